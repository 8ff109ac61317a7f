import { z } from "zod";

const text = z.string().catch("");
const flag = z.boolean().catch(false);
const list = z.array(z.string()).catch([]);
const table = z.record(z.string(), list).catch({});
const variables = z.record(z.string(), z.string()).catch({});

const requirementFile = z.object({
  path: z.string(),
  /** Of the distributions in it. */
  names: list,
  includes: list,
  /** It installs the project itself. */
  own: flag,
});

const pytest = z.object({
  file: text,
  addopts: text,
  requiredPlugins: text,
  testpaths: text,
  options: list,
  minversion: text,
});

/** What survey/survey.py says of a repository. All of it was written by strangers; what is not as it should be is left out. */
const facts = z.object({
  today: text,
  /** When this release was made, `YYYY-MM-DD`, and what says so; empty when nothing does. */
  date: text,
  dateFrom: text,
  /** The image's Python, such as 3.11. */
  python: text,
  name: text,
  version: text,
  backend: text,
  buildRequires: list,
  requiresPython: text,
  installable: flag,
  /** Something is compiled. */
  extension: flag,
  native: list,
  dependencies: list,
  extras: table,
  groups: table,
  testsRequire: list,
  toxDeps: list,
  toxFiles: list,
  /** Extras that tox, nox, hatch or CI ask for. */
  envExtras: list,
  testEnv: variables,
  testCommands: list,
  requirementFiles: z.array(requirementFile).catch([]),
  conda: list,
  pipfile: list,
  apt: list,
  /** Packages with headers that the documents name. */
  documentApt: list,
  /** Headers that sources include and that are nowhere. */
  headers: list,
  services: list,
  serviceEnv: variables,
  ciPip: list,
  pytest: pytest.catch({
    file: "",
    addopts: "",
    requiredPlugins: "",
    testpaths: "",
    options: [],
    minversion: "",
  }),
  testFiles: z.number().catch(0),
  /** Top-level modules that tests import, neither the standard library's nor the repository's own. */
  imports: list,
  /** The same, where the tests can do without. */
  optionalImports: list,
  sourceImports: list,
  sourceOptional: list,
  packages: list,
  locks: list,
  submodules: flag,
  manage: flag,
});

export type Facts = z.infer<typeof facts>;

/** Of a repository that could not be surveyed. */
export function emptyFacts(): Facts {
  return facts.parse({ installable: true });
}

/** The facts in an output of the survey; null when there are none in it. */
export function readFacts(output: string): Facts | null {
  const line = /^SURVEY (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) return null;
  const found = facts.safeParse(parsed(line));
  return found.success ? found.data : null;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
