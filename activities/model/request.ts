import type { ModelPlan } from "../../benchmarks/model-plan.ts";
import type { Form } from "./forms.ts";
import type { Message } from "./role.ts";

/** The name of the tool whose arguments are the answer. */
const TOOL = "answer";

/** What is sent to `/chat/completions`, apart from whether the answer is streamed. */
export function requestBody(
  plan: ModelPlan,
  messages: readonly Message[],
  form: Form,
  name: string,
  schema: Record<string, unknown>,
): Record<string, unknown> {
  const text = form === "plain" ? withSchema(messages, schema) : messages;
  return {
    // Newer models refuse max_tokens, older servers know nothing else: a provider's `body` may say either.
    ...("max_tokens" in plan.body ? {} : { max_completion_tokens: plan.max_output_tokens }),
    ...(plan.temperature === null ? {} : { temperature: plan.temperature }),
    ...plan.body,
    model: plan.model,
    messages: text,
    ...formFields(form, name, schema),
  };
}

function formFields(form: Form, name: string, schema: Record<string, unknown>): Record<string, unknown> {
  if (form === "json_schema") {
    return { response_format: { type: "json_schema", json_schema: { name, strict: true, schema } } };
  }
  if (form === "plain") return {};
  const tool = { name: TOOL, description: "Gives the answer.", parameters: schema };
  return {
    tools: [{ type: "function", function: tool }],
    tool_choice: { type: "function", function: { name: TOOL } },
  };
}

function withSchema(messages: readonly Message[], schema: Record<string, unknown>): Message[] {
  const [first, ...rest] = messages;
  const note = `Answer with one JSON object and nothing else, of this schema:\n${JSON.stringify(schema)}`;
  if (first?.role !== "system") return [{ role: "system", content: note }, ...messages];
  return [{ role: "system", content: `${first.content}\n\n${note}` }, ...rest];
}
