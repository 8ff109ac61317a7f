import type { DecideOutput } from "../roles/decide.ts";
import type { VerifyOutput } from "../roles/verify.ts";

const NOTHING = { command: "", unit: "", name: "", value: "", frames: 0, ready: false, message: "" };

export function shell(thought: string, command: string): DecideOutput {
  return { ...NOTHING, thought, action: "SHELL_COMMAND", command };
}

export function tryUnit(thought: string, unit: string): DecideOutput {
  return { ...NOTHING, thought, action: "TRY_XPU_SUGGESTION", unit };
}

export function setVariable(thought: string, name: string, value: string): DecideOutput {
  return { ...NOTHING, thought, action: "SET_ENV", name, value };
}

export function rollBack(thought: string, frames: number): DecideOutput {
  return { ...NOTHING, thought, action: "ROLLBACK_ENV", frames };
}

export function verify(thought: string, message: string): DecideOutput {
  return { ...NOTHING, thought, action: "VERIFY", message };
}

export function finish(thought: string, ready: boolean, message: string): DecideOutput {
  return { ...NOTHING, thought, action: "FINISH", ready, message };
}

export function look(thought: string, command: string): VerifyOutput {
  return { thought, action: "run", command, success: false, hint: "", framework: "", collected: 0 };
}

export function judge(
  thought: string,
  verdict: Omit<VerifyOutput, "thought" | "action" | "command">,
): VerifyOutput {
  return { thought, action: "finish", command: "", ...verdict };
}
