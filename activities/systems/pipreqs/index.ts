import { nextOf, type System } from "../system.ts";

const COMMANDS = [
  "python3 -m venv /workspace/venv",
  "python3 -m venv /opt/pipreqs && /opt/pipreqs/bin/pip install pipreqs==0.4.13",
  "/opt/pipreqs/bin/pipreqs --force --savepath /workspace/requirements.txt /workspace/repo",
  "/workspace/venv/bin/pip install -r /workspace/requirements.txt",
  "/workspace/venv/bin/pip install pytest",
];

/** The pipreqs tool guesses requirements from imports; they are installed, the project itself is not (Graph2Env's baseline). */
export const pipreqs: System = {
  name: "pipreqs",
  title: "requirements guessed from imports by pipreqs, then installed",
  needsOracle: false,
  decide: async ({ trajectory }) => nextOf(COMMANDS, trajectory),
};
