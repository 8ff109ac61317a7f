import type { Facts } from "./facts.ts";
import { mayBring, nameOf, plainName, uniqueByName } from "./names.ts";

const TEST =
  /^(?:hatch-)?(?:(?:unit|all)[-_]?)?(?:tests?|testing|check|pytest|ci|qa)(?:$|[-_](?!postgres|mysql|oracle|mssql|random))/;
const DEVELOP = /^(?:hatch-)?(?:uv-)?(?:dev|develop|development|contrib|local|default)$/;
/** What no test imports, or what only some machines can install. */
const OTHER =
  /doc|lint|format(?:ter|ting)|style|typ(?:e|ing)|mypy|pyright|bench|profil|release|publish|build|deploy|cuda|gpu|rocm|tpu|notebook|jupyter|example|tutorial|pre-commit|website|debug|all$|full$|everything|complete/;

/** What the tests need, as far as the project says so. */
export interface Needs {
  /** Extras for tests, by name. */
  extras: string[];
  /** Requirements of groups, tox, nox and the like. */
  requirements: string[];
  /** Files of requirements for tests. */
  files: string[];
  /** Of other extras, what tests may use; each installed if it can be. */
  optional: string[];
}

export function needsOf(facts: Facts): Needs {
  const extras = testExtras(facts);
  const groups = chosen(Object.keys(facts.groups)).flatMap((name) => facts.groups[name] ?? []);
  const files = testFiles(facts);
  const required = uniqueByName([
    ...groups,
    ...facts.testsRequire,
    ...facts.toxDeps,
    ...plugins(facts.pytest.requiredPlugins),
    "pytest",
  ]).filter((requirement) => isForTests(requirement, facts));
  return {
    extras,
    requirements: required.map(withoutComment),
    files,
    optional: optionalOf(facts, new Set(required.map(nameOf)), extras, files),
  };
}

function testExtras(facts: Facts): string[] {
  const names = Object.keys(facts.extras).filter((name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name));
  const asked = names.filter((name) => facts.envExtras.map(plainName).includes(plainName(name)));
  const wanted = new Set([...chosen(names), ...asked.filter((name) => !/doc|lint|mypy/.test(name))]);
  return [...new Map([...wanted].map((name) => [plainName(name), name])).values()];
}

/** Those for tests; where there are none, those for development. */
function chosen(names: readonly string[]): string[] {
  const tests = names.filter((name) => TEST.test(plainName(name)));
  return tests.length > 0 ? tests : names.filter((name) => DEVELOP.test(plainName(name)));
}

/** Tools that look at the code, not run it, are not worth an installation that fails. */
const TOOLS =
  /^(?:tox|tox-.*|nox|pre-commit.*|black|flake8.*|pylint|isort|ruff|twine|build|wheel|bump2version|sphinx.*|furo|mypy|pyright|types-.*|codecov|coveralls|commitizen|towncrier|zest-releaser|check-manifest|pip|setuptools|uv|ty|basedpyright|mkdocs.*|bandit|safety)$/;

function isForTests(requirement: string, { imports, optionalImports }: Facts): boolean {
  const name = nameOf(requirement);
  return !TOOLS.test(name) || [...imports, ...optionalImports].some((module) => mayBring(name, module));
}

function withoutComment(requirement: string): string {
  return requirement.replace(/\s+#.*$/, "");
}

function plugins(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => /^[A-Za-z0-9][A-Za-z0-9._<>=!~-]*$/.test(word));
}

function testFiles({ requirementFiles, toxFiles, python }: Facts): string[] {
  const known = new Map(requirementFiles.map((file) => [file.path, file]));
  const usable = [...known.keys()].filter(
    (path) =>
      (path.endsWith(".txt") || !known.has(path.replace(/\.\w+$/, ".txt"))) &&
      !/doc|lint|typ(?:e|ing)|mypy|bench|release|build|rtd|constraint/i.test(path) &&
      !isForOtherPython(path, python),
  );
  const asked = toxFiles.filter((path) => usable.includes(path));
  const tests = usable.filter(
    (path) => /test|(?:^|[/_-])ci[._-]/i.test(path) && !/tests?\/(?!require)/.test(path),
  );
  const develop = usable.filter((path) => /dev/i.test(path));
  const plain = usable.filter((path) => /^(?:requirements|requires)\.txt$/.test(path));
  const wanted = tests.length > 0 ? tests : develop;
  return [...new Set([...plain, ...asked, ...wanted])].slice(0, 6);
}

/** A path such as requirements/3.3/dev.txt or requirements-py27.txt names the Python that it is for. */
function isForOtherPython(path: string, python: string): boolean {
  const [major = "", minor = ""] = python.split(".");
  return [...path.matchAll(/(?:^|[/_-])(?:py|python)?-?([23])\.?(\d{1,2})?(?=[/_.-])/gi)].some(
    ([, itsMajor, itsMinor]) => itsMajor !== major || (itsMinor !== undefined && itsMinor !== minor),
  );
}

/** More than this many are a collection of everything, not what the tests are about. */
const MOST_OPTIONAL = 40;

function optionalOf(
  facts: Facts,
  required: ReadonlySet<string>,
  extras: string[],
  files: string[],
): string[] {
  const used = [...facts.imports, ...facts.optionalImports];
  const feature = Object.entries(facts.extras)
    .filter(([name]) => !extras.includes(name))
    .flatMap(([name, items]) =>
      items.map((requirement) => ({ requirement, other: OTHER.test(plainName(name)) })),
    );
  const elsewhere = [
    ...Object.values(facts.groups).flat(),
    ...facts.ciPip,
    ...facts.pipfile,
    ...facts.requirementFiles.filter(({ path }) => !files.includes(path)).flatMap(({ names }) => names),
    ...facts.conda,
  ];
  const modules = (requirement: string) => used.some((module) => mayBring(nameOf(requirement), module));
  const wanted = [
    ...feature.filter(({ requirement, other }) => !other || modules(requirement)).map((it) => it.requirement),
    ...elsewhere.filter(modules),
  ];
  const own = plainName(facts.name);
  const dependencies = new Set(facts.dependencies.map(nameOf));
  return uniqueByName(wanted)
    .filter((requirement) => {
      const name = nameOf(requirement);
      return !required.has(name) && name !== own && !dependencies.has(name) && !TOOLS.test(name);
    })
    .map(withoutComment)
    .slice(0, MOST_OPTIONAL);
}
