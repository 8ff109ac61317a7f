import { quote } from "../../../knowledge/atoms/quote.ts";
import { type Choices, editableFlags, eraFlags, laterThan } from "./era.ts";
import type { Facts } from "./facts.ts";
import { plainName } from "./names.ts";
import type { Needs } from "./needs.ts";
import { serviceCommand } from "./services.ts";
import { IMPORTS, INSTALL, PYTHON } from "./tools.ts";

/** One part of the plan. Its commands are alternatives, the preferred one first; one of them has to succeed. */
export interface Step {
  name: string;
  why: string;
  commands: string[];
  /** Without it the environment is worth nothing. */
  must: boolean;
}

export function planOf(facts: Facts, needs: Needs, choices: Choices): Step[] {
  const era = eraFlags(facts, choices);
  const tests = [...needs.requirements.map(quote), ...needs.files.map((file) => `-r ${quote(file)}`)].join(
    " ",
  );
  const steps: Omit<Step, "must">[] = [
    ...systemSteps(facts),
    {
      name: "project",
      why: "The project, with all that its tests are said to need.",
      commands: projectCommands(facts, needs, choices, tests),
    },
    {
      name: "tests",
      why: "What the tests are said to need.",
      commands: testCommands(facts, needs, era, tests),
    },
    {
      name: "pytest",
      why: "Does pytest work with this Python?",
      commands: [trialCommand(), ...newerPytest(facts, choices)],
    },
    ...optionalSteps(facts, needs, choices),
    ...importSteps(facts),
    ...serviceSteps(facts),
  ];
  return steps.map(({ name, why, commands }) => ({
    ...{ name, why, commands: [...new Set(commands)] },
    must: name === "project" || name === "tests",
  }));
}

type Optional = Omit<Step, "must">[];

/** Large, or nothing that a test of Python code is about. */
const NO_SYSTEM =
  /^(?:texlive|latex|google-chrome|firefox|chromium|python[\d.]|python3?-|pypy|gh$|docker|sudo$|git$|curl$|wget$|ca-cert)/;

function systemSteps({ apt, documentApt, extension }: Facts): Optional {
  const wanted = [...new Set([...apt, ...(extension ? documentApt : [])])];
  const names = wanted.filter((name) => !NO_SYSTEM.test(name)).slice(0, 25);
  if (names.length === 0 || (!extension && !names.some((name) => !name.startsWith("lib")))) return [];
  // They are another release's, or another distribution's: those that are not known here are left out.
  const known = `apt-cache pkgnames | grep -Fx ${names.map((name) => `-e ${quote(name)}`).join(" ")}`;
  const command = `apt-get update -qq && apt-get install -y -qq --no-install-recommends $(${known})`;
  return [{ name: "system", why: "System packages that CI and documents name.", commands: [command] }];
}

function projectCommands(facts: Facts, { extras }: Needs, choices: Choices, tests: string): string[] {
  const era = eraFlags(facts, choices);
  const newer = editableFlags(facts, choices);
  const target = extras.length > 0 ? `.[${extras.join(",")}]` : ".";
  const build = ["setuptools", "wheel", ...facts.buildRequires].map(quote).join(" ");
  const path = `${PYTHON} -c 'import sysconfig,os; open(os.path.join(sysconfig.get_path("purelib"), "repository.pth"), "w").write("/workspace/repo\\n/workspace/repo/src\\n")'`;
  const dependencies = facts.dependencies.map(quote).join(" ");
  const alone = dependencies === "" ? path : `${INSTALL}${era} ${dependencies} && ${path}`;
  if (!facts.installable) return [alone, path];
  // Such an editable install builds anew at import, with tools that an isolated build has thrown away.
  const rebuilds = /mesonpy|scikit_build/.test(facts.backend);
  const open = `${INSTALL}${era} ${build} && ${INSTALL}${era} --no-build-isolation`;
  const editable = (what: string, more = "") =>
    `${rebuilds ? `${open}` : `${INSTALL}${newer}`} -e ${quote(what)}${more}`;
  return [
    editable(target, ` ${tests}`),
    editable(target),
    `${INSTALL}${era} ${quote(target)}`,
    editable("."),
    `${open} -e .`,
    `${PYTHON} -m pip install --quiet -e .`,
    alone,
  ];
}

/** Once more after the project came with them: then there is nothing to do, and it takes no time. */
function testCommands(facts: Facts, { requirements, files }: Needs, era: string, tests: string): string[] {
  const named = facts.requirementFiles
    .filter(({ path }) => files.includes(path))
    .flatMap(({ names }) => names);
  const each = [...requirements, ...named].map(quote).join(" ");
  return [
    `${INSTALL}${era} ${tests}`,
    `${INSTALL}${era} ${requirements.map(quote).join(" ")} ${named.map(quote).join(" ")}`.trim(),
    `${oneByOne(each, era)} && ${PYTHON} -c 'import pytest'`,
    `${PYTHON} -m pip install --quiet pytest`,
  ];
}

function oneByOne(requirements: string, era: string, seconds = 240): string {
  return `for one in ${requirements}; do timeout ${seconds} ${INSTALL}${era} "$one" || echo "left out: $one"; done`;
}

/** Compiling is not worth its time for what tests can do without. */
const OPTIONAL_SECONDS = 120;

function optionalSteps(facts: Facts, { optional }: Needs, choices: Choices): Optional {
  if (optional.length === 0) return [];
  const era = eraFlags(facts, choices);
  const wheels = era.includes("--wheels-until") ? era : ` --no-build${era}`;
  const dependencies = facts.dependencies.map(quote).join(" ");
  const wanted = optional.map(quote).join(" ");
  const together = `timeout ${2 * OPTIONAL_SECONDS} ${INSTALL}${wheels} ${dependencies} ${wanted}`;
  const commands = [together.replaceAll(/ +/g, " "), oneByOne(wanted, era, OPTIONAL_SECONDS)];
  return [{ name: "optional", why: "Extras that tests may use.", commands }];
}

function trialCommand(): string {
  const tests = "def test_one():\\n    left = [1, 2]\\n    assert left == [1, 2], left\\n";
  const folder = "/tmp/pytest-trial";
  return `mkdir -p ${folder} && printf '${tests}' > ${folder}/test_trial.py && cd ${folder} && ${PYTHON} -m pytest -q -p no:cacheprovider --rootdir . test_trial.py`;
}

/**
 * What pytest itself needs may be too old for this Python; then pytest may be. A `py` that a later pytest does not ask for
 * would stay in its way.
 */
function newerPytest(facts: Facts, { era }: Choices): string[] {
  if (era === null) return [];
  const newer = (date: string, what: string) =>
    `${PYTHON} -m pip uninstall -q -y py && ${INSTALL} --exclude-newer ${date}T00:00:00Z --upgrade ${what} && ${trialCommand()}`;
  const same = `"pytest==$(${PYTHON} -c 'import importlib.metadata as data; print(data.version("pytest"))')"`;
  const later = laterThan(era, facts);
  return [newer(later, same), newer(later, "pytest"), newer(facts.today, "pytest")];
}

function importSteps({ imports, name }: Facts): Optional {
  const modules = imports
    .filter((module) => /^[A-Za-z]\w*$/.test(module) && plainName(module) !== plainName(name))
    .slice(0, 40);
  if (modules.length === 0) return [];
  const commands = [`${IMPORTS} ${modules.join(" ")}`];
  return [{ name: "imports", why: "Is what the tests import there?", commands }];
}

function serviceSteps({ services, serviceEnv }: Facts): Optional {
  return services.flatMap((service) => {
    const command = serviceCommand(service, serviceEnv);
    const why = "A service that CI starts.";
    return command === null ? [] : [{ name: `service ${service}`, why, commands: [command] }];
  });
}
