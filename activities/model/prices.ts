import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type ModelPrice, modelPrice } from "../../benchmarks/model-plan.ts";

const table = z.strictObject({ note: z.string(), models: z.record(z.string(), modelPrice) });

/**
 * The price of a model by its name at the endpoint, or null when the table does not know it. A provider's prefix
 * (`openai/`) and the date of a snapshot (`-2026-03-01`) make no other model.
 */
export async function knownPrice(model: string): Promise<ModelPrice | null> {
  const { models } = await priceTable();
  const bare = model.slice(model.lastIndexOf("/") + 1);
  return models[bare] ?? models[bare.replace(/-\d{4}-\d{2}-\d{2}$/, "")] ?? null;
}

export async function priceTable(): Promise<z.infer<typeof table>> {
  return table.parse(JSON.parse(await readFile(new URL("prices.json", import.meta.url), "utf8")));
}
