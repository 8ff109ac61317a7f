import type { ModelPrice } from "../../benchmarks/model-plan.ts";
import { type Call, receiptOf, unsettledTries } from "./journal.ts";
import { addUsage, costOf, NO_USAGE, type Usage } from "./usage.ts";

/** What the calls of one attempt took. */
export interface Spending {
  /** By role; a role whose calls reported nothing is missing. */
  tokens: Record<string, Usage>;
  measured_usd: number;
  /** Settled calls without usage or without a price: their cost is beside the sum, never in it. */
  unmeasured_calls: number;
  /** Tries that may have been charged without an answer having come (a crash, a broken connection). */
  unsettled_calls: number;
  /** A rough price of those; null when it can't be told. */
  unsettled_usd: number | null;
}

export function spendingOf(calls: readonly Call[], price: ModelPrice | null): Spending {
  const spent: Spending = {
    tokens: {},
    measured_usd: 0,
    unmeasured_calls: 0,
    unsettled_calls: 0,
    unsettled_usd: 0,
  };
  for (const { role, entries } of calls) {
    const receipt = receiptOf(entries);
    if (receipt?.usage) spent.tokens[role] = addUsage(spent.tokens[role] ?? NO_USAGE, receipt.usage);
    // A request that the endpoint turned away was no work for it.
    const isCharged = receipt?.outcome.kind === "answer" || receipt?.outcome.kind === "refused";
    if (receipt !== null && isCharged && receipt.from === "endpoint") {
      if (receipt.usage === null || price === null) spent.unmeasured_calls += 1;
      else spent.measured_usd += costOf(receipt.usage, price);
    }
    for (const intent of unsettledTries(entries)) {
      spent.unsettled_calls += 1;
      const likely = receipt?.usage ?? { ...NO_USAGE, input: intent.estimated_input };
      spent.unsettled_usd =
        price === null || spent.unsettled_usd === null ? null : spent.unsettled_usd + costOf(likely, price);
    }
  }
  return spent;
}
