import { type Choices, eraFlags } from "./era.ts";
import type { Facts } from "./facts.ts";

export const PYTHON = "/workspace/venv/bin/python";
const TOOLS = "/workspace/tools";
/** `uv pip install` into the environment, from the index that pip is told of. */
export const INSTALL = `${TOOLS}/install`;
/** Says of each module that the environment lacks that it does, in Python's words; a file, so that no command has them. */
export const IMPORTS = `${TOOLS}/imports`;
const IMPORTS_SCRIPT = `#!${PYTHON}
import importlib.util, sys
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
sys.exit("\\n".join("ModuleNotFoundError: No module named '%s'" % name for name in missing) or 0)`;

/** What makes a fresh environment of an era. */
export function freshCommand(era: string | null): string {
  const until =
    era === null
      ? ""
      : ` && ${PYTHON} -m pip config --site --quiet set global.uploaded-prior-to ${era}T00:00:00Z`;
  return `python3 -m venv --clear /workspace/venv && ${PYTHON} -m pip install --quiet --upgrade pip${until}`;
}

/** Makes the installer; where uv can't be had, of pip. */
export function toolCommands(): string[] {
  const index = `UV_DEFAULT_INDEX="\${UV_DEFAULT_INDEX:-\${UV_INDEX_URL:-\${PIP_INDEX_URL:-https://pypi.org/simple}}}"`;
  const uv = `exec ${TOOLS}/bin/uv pip install --quiet --python ${PYTHON} "$@"`;
  const pip = [
    'set -- $(for a; do case $a in --exclude-newer*) skip=1;; *) [ -n "$skip" ] || printf \'%s\\n\' "$a"; skip=;; esac; done)',
    `exec ${PYTHON} -m pip install --quiet "$@"`,
  ].join("\n");
  const file = (path: string, script: string) => `cat > ${path} <<'END'\n${script}\nEND\nchmod +x ${path}`;
  const write = (script: string) =>
    `${file(INSTALL, `#!/bin/sh\n${script}`)}\n${file(IMPORTS, IMPORTS_SCRIPT)}`;
  const venv = `python3 -m venv ${TOOLS} && ${TOOLS}/bin/python -m pip install --quiet uv`;
  return [`set -e\n${venv}\n${write(`export ${index}\n${uv}`)}`, `set -e\nmkdir -p ${TOOLS}\n${write(pip)}`];
}

export function installCommand(facts: Facts, choices: Choices, what: string): string {
  return `${INSTALL}${eraFlags(facts, choices)} ${what}`;
}
