import { middleLeftOut } from "../../middle-left-out.ts";
import type { Step, StepOutput } from "../../store/trajectory.ts";
import type { ReactInput } from "./role.ts";

/** The steps as the model sees them; of each output stream at most `characters`, half of them from its end. */
export function observedSteps(trajectory: readonly Step[], characters: number): ReactInput["steps"] {
  return trajectory.map(({ command, observation }) => {
    if (observation === null)
      return { command: command ?? "", result: "(nothing is known of it)", output: "" };
    const { end, exit, seconds, stdout, stderr } = observation;
    const how = end === "exited" ? `exit ${exit}` : `${WAYS[end]}, exit ${exit ?? "unknown"}`;
    return {
      command: command ?? "",
      result: `[${how}, ${Math.round(seconds)} s]`,
      output: [shown("stdout", stdout, characters), shown("stderr", stderr, characters)]
        .filter(Boolean)
        .join("\n"),
    };
  });
}

const WAYS = {
  timeout: "stopped at its time limit",
  output: "stopped for too much output",
  stopped: "stopped",
  oom: "out of memory",
  lost: "lost",
};

function shown(name: string, { text }: StepOutput, characters: number): string {
  return text.trim() === "" ? "" : `${name}:\n${middleLeftOut(text, characters)}`;
}
