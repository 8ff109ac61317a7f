import { readFileSync } from "node:fs";
import { join } from "node:path";
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

/** What a venv holds by itself, but the pip that knows dates and the last setuptools with pkg_resources. */
const SEED = "pip 'setuptools<81' wheel";

/** What makes a fresh environment of an era; by the installer, which is faster than venv's own way. */
export function freshCommand(era: string | null): string {
  const until =
    era === null
      ? ""
      : ` && ${PYTHON} -m pip config --site --quiet set global.uploaded-prior-to ${era}T00:00:00Z`;
  const seed = `if [ -x ${TOOLS}/bin/uv ]; then ${INSTALL} ${SEED}; else ${PYTHON} -m ensurepip && ${PYTHON} -m pip install --quiet --upgrade ${SEED}; fi`;
  return `python3 -m venv --clear --without-pip /workspace/venv && { ${seed}; }${until}`;
}

const INSTALL_SCRIPT = readFileSync(join(import.meta.dirname, "install.py"), "utf8").trim();
/** Without uv: pip, which knows the era by its own configuration. */
const PIP_SCRIPT = `#!/bin/sh
set -- $(for a; do case $a in --exclude-newer*|--wheels-until) skip=1;; *) [ -n "$skip" ] || printf '%s\\n' "$a"; skip=;; esac; done)
exec ${PYTHON} -m pip install --quiet "$@"`;

/** Makes the installer; where uv can't be had, of pip. */
export function toolCommands(): string[] {
  const file = (path: string, script: string) =>
    `cat > ${path} <<'END_OF_TOOL'\n${script}\nEND_OF_TOOL\nchmod +x ${path}`;
  const write = (script: string) => `${file(INSTALL, script)}\n${file(IMPORTS, IMPORTS_SCRIPT)}`;
  const venv = `python3 -m venv ${TOOLS} && ${TOOLS}/bin/python -m pip install --quiet uv`;
  return [`set -e\n${venv}\n${write(INSTALL_SCRIPT)}`, `set -e\nmkdir -p ${TOOLS}\n${write(PIP_SCRIPT)}`];
}

export function installCommand(facts: Facts, choices: Choices, what: string): string {
  return `${INSTALL}${eraFlags(facts, choices)} ${what}`;
}
