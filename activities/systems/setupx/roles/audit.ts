import { z } from "zod";
import type { Role } from "../../../model/role.ts";
import { auditByRules } from "../rules/audit.ts";

const verdict = z.enum(["success", "failure", "neutral"]);

const input = z.object({
  situation: z.string(),
  units: z.array(z.object({ unit: z.string(), advice: z.array(z.string()), commands: z.array(z.string()) })),
  /** What the agent did next. */
  after: z.array(
    z.object({ action: z.string(), command: z.string(), success: z.boolean(), output: z.string() }),
  ),
});

const output = z.object({
  verdicts: z.array(
    z.object({
      unit: z.string().describe("The id of one of the units."),
      verdict: verdict.describe("Whether its advice, when it was followed, solved the failure."),
      reason: z.string().describe("One sentence."),
    }),
  ),
});

export type AuditInput = z.infer<typeof input>;
export type AuditOutput = z.infer<typeof output>;

/** SetupX's delayed audit: of what was recommended, what did the next turns prove? */
export const audit: Role<AuditInput, AuditOutput> = {
  name: "auditor",
  input,
  output,
  instructions: `Units of experience were recommended for a failure of a set-up; you see what was done next. Judge each unit: \
success, if what it advises was done and the failure went away; failure, if it was done and did not help; neutral, if it was \
not followed or nothing can be told. Whoever solved it otherwise proves nothing about the unit.`,
  render: ({ situation, units, after }) => {
    const asked = units.map(
      ({ unit, advice, commands }) => `${unit}: ${advice.join(" ")} ${commands.join(" && ")}`,
    );
    const done = after.map(
      ({ action, command, success, output: printed }) =>
        `${action}: ${command} → ${success ? "worked" : "did not work"}\n${printed}`,
    );
    return [
      {
        role: "user",
        content: `The failure:\n${situation}\n\nRecommended:\n${asked.join("\n")}\n\nWhat was done:\n${done.join("\n")}`,
      },
    ];
  },
  rules: auditByRules,
};
