import type { ModelPlan } from "../../benchmarks/model-plan.ts";

/** How an answer is held to a schema, strictest first. */
const FORMS = ["json_schema", "tool", "plain"] as const;
export type Form = (typeof FORMS)[number];

/** By endpoint and model: the form that was taken last, so that each of them refuses a form only once per process. */
const known = new Map<string, Form>();

/** The form to begin with. */
export function firstForm(endpoint: string, { model, structured }: ModelPlan): Form {
  return structured === "auto" ? (known.get(`${endpoint} ${model}`) ?? FORMS[0]) : structured;
}

/** What to try when the endpoint does not know a form; null: nothing is left, or no other is wanted. */
export function nextForm(refused: Form, { structured }: ModelPlan): Form | null {
  return structured === "auto" ? (FORMS[FORMS.indexOf(refused) + 1] ?? null) : null;
}

export function rememberForm(endpoint: string, { model }: ModelPlan, form: Form): void {
  known.set(`${endpoint} ${model}`, form);
}
