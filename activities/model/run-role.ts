import { CausedError } from "../errors.ts";
import { parseAnswer } from "./answer.ts";
import { type Caller, call } from "./call.ts";
import { firstForm, nextForm, rememberForm } from "./forms.ts";
import type { Receipt } from "./journal.ts";
import { requestBody } from "./request.ts";
import { type Message, outputSchema, type Role } from "./role.ts";

/** Who answers the roles of one step of an attempt. */
export type Policy =
  | { kind: "rules" }
  | {
      kind: "openai";
      caller: Caller;
      step: number;
      part: number;
      /** Calls made so far in this part of the step, by role; starts empty with each step. */
      made: Map<string, number>;
      /** Told of each call that was needed. */
      onCall?: (receipt: Receipt) => void;
    };

/** The conversation is longer than the model takes: whoever renders it may try again with less. */
export class OverflowError extends Error {
  override readonly name = "OverflowError";
}

/** How often a model may mend an answer that does not fit the role's output. */
const REPAIRS = 2;

/**
 * Asks the policy. Throws CausedError: `model_refused_output` when no answer of the right shape came after the repairs,
 * or the causes of `call`; and OverflowError.
 */
export async function runRole<I, O>(role: Role<I, O>, input: I, policy: Policy): Promise<O> {
  const checked = role.input.parse(input);
  if (policy.kind === "openai") return ask(role, checked, policy);
  if (role.rules === undefined) throw new Error(`the role ${role.name} has no rules policy`);
  return role.output.parse(await role.rules(checked));
}

async function ask<I, O>(
  role: Role<I, O>,
  input: I,
  policy: Extract<Policy, { kind: "openai" }>,
): Promise<O> {
  const { model, endpoint } = policy.caller;
  const schema = outputSchema(role);
  let messages: Message[] = [{ role: "system", content: role.instructions }, ...role.render(input)];
  let form = firstForm(endpoint.url, model);
  for (let repairs = 0; ; ) {
    const body = requestBody(model, messages, form, role.name, schema);
    const receipt = await nextCall(role.name, policy, { body, messages, form });
    const { outcome } = receipt;
    if (outcome.kind === "overflow") throw new OverflowError(outcome.message);
    if (outcome.kind === "refused") throw new CausedError("model_refused_output", outcome.message);
    if (outcome.kind === "unsupported") {
      const next = nextForm(receipt.form, model);
      if (next === null) throw new CausedError("model_unavailable", outcome.message);
      form = next;
      continue;
    }
    rememberForm(endpoint.url, model, receipt.form);
    const parsed = parseAnswer(role.output, outcome.text);
    if (parsed.ok) return parsed.value;
    const problem = outcome.cut ? `it ended at ${model.max_output_tokens} tokens` : parsed.problem;
    if (repairs++ >= REPAIRS) {
      throw new CausedError("model_refused_output", `${role.name}: no answer of the right form: ${problem}`);
    }
    messages = [...messages, ...repairOf(outcome.text, problem)];
  }
}

function nextCall(
  role: string,
  policy: Extract<Policy, { kind: "openai" }>,
  question: Parameters<typeof call>[2],
): Promise<Receipt> {
  const n = (policy.made.get(role) ?? 0) + 1;
  policy.made.set(role, n);
  return call(policy.caller, { role, step: policy.step, part: policy.part, n }, question).then((receipt) => {
    policy.onCall?.(receipt);
    return receipt;
  });
}

function repairOf(answer: string, problem: string): Message[] {
  return [
    // Some endpoints refuse an empty message.
    { role: "assistant", content: answer || "(empty)" },
    {
      role: "user",
      content: `That answer can't be used: ${problem}. Give the whole answer again, corrected.`,
    },
  ];
}
