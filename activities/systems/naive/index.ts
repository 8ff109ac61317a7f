import { nextOf, type System } from "../system.ts";

const COMMANDS = [
  "python3 -m venv /workspace/venv",
  "/workspace/venv/bin/pip install .",
  "/workspace/venv/bin/pip install pytest",
];

/** What a hurried person types first: a virtual environment, the project, pytest. */
export const naive: System = {
  name: "naive",
  title: "venv, pip install ., pip install pytest",
  needsOracle: false,
  decide: async ({ trajectory }) => nextOf(COMMANDS, trajectory),
};
