import { z } from "zod";

/** What came of a command, with as much of its outputs as the trajectory keeps. */
export const result = z.object({
  exit: z.int().nullable(),
  end: z.enum(["exited", "timeout", "output", "stopped", "oom", "lost"]),
  seconds: z.number(),
  stdout: z.string(),
  stderr: z.string(),
});

/** What the agent chose in a turn; SetupX's six actions (paper, section on the action space). */
const agentAction = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("shell"), command: z.string() }),
  /** `commands`: the suggestion adapted to the case; empty: as its atoms render. */
  z.object({ kind: z.literal("try"), unit: z.string(), commands: z.array(z.string()) }),
  z.object({ kind: z.literal("set_env"), name: z.string(), value: z.string() }),
  z.object({ kind: z.literal("rollback"), frames: z.int().positive() }),
  z.object({ kind: z.literal("verify"), hint: z.string() }),
  z.object({ kind: z.literal("finish"), ready: z.boolean(), message: z.string() }),
]);

/** A turn that is over. */
export const turn = z.object({
  turn: z.int().positive(),
  thought: z.string(),
  action: agentAction,
  /** Of `shell` and `set_env`: the command's. Of `try`: its last command's. Null where nothing ran. */
  result: result.nullable(),
  /** Whether the turn brought what it was meant to: exit 0, a suggestion kept, a verification passed. */
  success: z.boolean(),
  /** What the harness says of it: a suggestion kept or taken back and why, the verifier's hint, why nothing ran. */
  note: z.string(),
});

/** A unit of the knowledge base as the agent sees it. */
export const suggestion = z.object({
  unit: z.string(),
  advice: z.array(z.string()),
  /** Its atoms rendered for the environment's interpreter; empty when it is advice alone. */
  commands: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  umask: z.string().nullable(),
  /** Why it was chosen. */
  reason: z.string(),
  /** 0 to 1. */
  confidence: z.number(),
});

export type Result = z.infer<typeof result>;
export type AgentAction = z.infer<typeof agentAction>;
export type Turn = z.infer<typeof turn>;
export type Suggestion = z.infer<typeof suggestion>;
