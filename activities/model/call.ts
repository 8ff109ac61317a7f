import { setTimeout as sleep } from "node:timers/promises";
import type { EndpointPlan, ModelPlan } from "../../benchmarks/model-plan.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import type { AttemptKey } from "../../workflows/types.ts";
import { CausedError } from "../errors.ts";
import type { BlobStore } from "../store/blobs.ts";
import { cacheKey, readCache, writeCache } from "./cache.ts";
import { complete, withoutSecrets } from "./client.ts";
import { type Fault, faultOf } from "./faults.ts";
import type { Form } from "./forms.ts";
import {
  appendEntry,
  type CallId,
  callName,
  type Entry,
  nextTry,
  type Outcome,
  type Receipt,
  readCall,
  receiptOf,
} from "./journal.ts";
import { noteSpending } from "./ledger.ts";
import { type Limiter, limiterFor } from "./limiter.ts";
import { refuseOverLimit, runName } from "./limits.ts";
import type { Message } from "./role.ts";
import { costOf, estimatedTokens, NO_USAGE } from "./usage.ts";

/** Whose calls these are, and with what they are made. */
export interface Caller {
  key: AttemptKey;
  sweep: SweepPlan;
  /** Which repeat of its cell the attempt is of, from 1. */
  repeat: number;
  model: ModelPlan;
  endpoint: EndpointPlan;
  blobs: BlobStore;
  stateFolder: string;
  signal: AbortSignal;
}

export interface Question {
  body: Record<string, unknown>;
  messages: readonly Message[];
  form: Form;
}

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/**
 * Makes one call, or gives what came of it when it was made before (by a process that crashed since). Throws CausedError
 * when the attempt or the sweep may spend no more, when only people can help, and when the endpoint stays busy or away
 * for longer than its patience.
 */
export async function call(caller: Caller, id: CallId, question: Question): Promise<Receipt> {
  const entries = await readCall(caller.key, id);
  const known = receiptOf(entries);
  if (known !== null) {
    await noteReceipt(caller, id, known, question);
    return known;
  }
  await refuseOverLimit(caller.key, caller.sweep);
  const cached = await fromCache(caller, id, question, nextTry(entries));
  if (cached !== null) return cached;
  const receipt = await tryUntilSettled(caller, id, question, entries);
  await noteReceipt(caller, id, receipt, question);
  if (caller.sweep.settings.model_cache && receipt.outcome.kind === "answer") {
    await writeCache(caller.stateFolder, cacheKeyOf(caller, question), receipt);
  }
  return receipt;
}

async function tryUntilSettled(
  caller: Caller,
  id: CallId,
  question: Question,
  before: readonly Entry[],
): Promise<Receipt> {
  const until = performance.now() + caller.endpoint.patience_seconds * 1_000;
  let pause = FIRST_PAUSE_MS;
  for (let number = nextTry(before); ; number++) {
    const held = limiterOf(caller).heldMs();
    if (performance.now() + held > until && held > 0) {
      const message = `wants no call for ${Math.ceil(held / 1_000)} s, which is beyond the patience`;
      throw new CausedError("model_rate_limited", told(caller, message));
    }
    const { receipt, fault } = await tryOnce(caller, id, question, number);
    if (receipt !== null) return receipt;
    if (fault.kind === "lasting") throw new CausedError(fault.cause, told(caller, fault.message));
    const wait = fault.retryAfterMs ?? pause * (0.5 + Math.random());
    if (performance.now() + wait > until) {
      const patience = `${caller.endpoint.patience_seconds} s of patience are over`;
      throw new CausedError(fault.cause, told(caller, `${fault.message} (${patience})`));
    }
    await sleep(wait, undefined, { signal: caller.signal });
    pause = Math.min(pause * 2, LAST_PAUSE_MS);
  }
}

type Tried =
  | { receipt: Receipt; fault: null }
  | { receipt: null; fault: Exclude<Fault, { kind: "outcome" }> };

async function tryOnce(caller: Caller, id: CallId, question: Question, number: number): Promise<Tried> {
  const { endpoint, signal } = caller;
  const turn = await limiterOf(caller).acquire(signal);
  try {
    await writeIntent(caller, id, question, number);
    const from = performance.now();
    try {
      const { text, cut, refusal, usage } = await complete(endpoint, question.body, signal);
      const seconds = (performance.now() - from) / 1_000;
      turn.succeeded();
      const outcome: Outcome =
        refusal === null ? { kind: "answer", text, cut } : { kind: "refused", message: refusal };
      const receipt = receiptFor(question, number, outcome, { usage, seconds, from: "endpoint" });
      await appendEntry(caller.key, id, receipt);
      return { receipt, fault: null };
    } catch (error) {
      signal.throwIfAborted();
      const fault = error instanceof CausedError ? lasting(error) : faultOf(error);
      if (fault === null) throw error;
      if (fault.kind === "passing" && fault.cause === "model_rate_limited")
        turn.overloaded(fault.retryAfterMs);
      return await settle(caller, id, question, number, fault, (performance.now() - from) / 1_000);
    }
  } finally {
    turn.release();
  }
}

function lasting(error: CausedError): Fault {
  return { kind: "lasting", cause: error.failure, message: error.message };
}

async function settle(
  caller: Caller,
  id: CallId,
  question: Question,
  number: number,
  fault: Fault,
  seconds: number,
): Promise<Tried> {
  if (fault.kind === "outcome") {
    const message = withoutSecrets(
      fault.outcome.kind === "answer" ? "" : fault.outcome.message,
      caller.endpoint,
    );
    const outcome = { ...fault.outcome, message } as Outcome;
    const receipt = receiptFor(question, number, outcome, { usage: NO_USAGE, seconds, from: "endpoint" });
    await appendEntry(caller.key, id, receipt);
    return { receipt, fault: null };
  }
  const message = withoutSecrets(fault.message, caller.endpoint);
  const charged = fault.kind === "passing" && fault.charged;
  const at = new Date().toISOString();
  await appendEntry(caller.key, id, {
    event: "fault",
    try: number,
    at,
    cause: fault.cause,
    message,
    charged,
  });
  return { receipt: null, fault: { ...fault, message } };
}

async function writeIntent(caller: Caller, id: CallId, question: Question, number: number): Promise<void> {
  const messages = [];
  for (const { role, content } of question.messages) {
    messages.push({ role, digest: await caller.blobs.put(content) });
  }
  await appendEntry(caller.key, id, {
    event: "intent",
    try: number,
    at: new Date().toISOString(),
    model: caller.model.model,
    endpoint: caller.endpoint.url,
    form: question.form,
    request: cacheKeyOf(caller, question),
    messages,
    estimated_input: estimatedInput(question),
  });
}

async function fromCache(
  caller: Caller,
  id: CallId,
  question: Question,
  number: number,
): Promise<Receipt | null> {
  if (!caller.sweep.settings.model_cache) return null;
  const cached = await readCache(caller.stateFolder, cacheKeyOf(caller, question));
  if (cached === null) return null;
  const { outcome, usage, seconds } = cached;
  const receipt = receiptFor(question, number, outcome, { usage, seconds, from: "cache" });
  await appendEntry(caller.key, id, receipt);
  return receipt;
}

function receiptFor(
  { form }: Question,
  number: number,
  outcome: Outcome,
  rest: Pick<Receipt, "usage" | "seconds" | "from">,
): Receipt {
  return { event: "receipt", try: number, at: new Date().toISOString(), form, outcome, ...rest };
}

/** Limits count what was not reported by estimate: a model that tells nothing must not be free of them. */
async function noteReceipt(caller: Caller, id: CallId, receipt: Receipt, question: Question): Promise<void> {
  if (receipt.from === "cache") return;
  const answered = receipt.outcome.kind === "answer" ? receipt.outcome.text.length : 0;
  const usage = receipt.usage ?? {
    ...NO_USAGE,
    input: estimatedInput(question),
    output: estimatedTokens(answered),
  };
  const { price } = caller.model;
  await noteSpending(caller.key.folder, {
    run: runName(caller.key),
    id: callName(id),
    usd: price === null ? null : costOf(usage, price),
    tokens: usage.input + usage.output,
  });
}

function estimatedInput({ body }: Question): number {
  return estimatedTokens(JSON.stringify(body).length);
}

function cacheKeyOf({ endpoint, repeat }: Caller, { body }: Question): string {
  return cacheKey(endpoint.url, body, repeat);
}

function limiterOf({ endpoint: { url, key_env, parallel } }: Caller): Limiter {
  return limiterFor(`${url} ${key_env ?? ""}`, parallel);
}

function told({ endpoint, model }: Caller, message: string): string {
  return `${model.model} at ${endpoint.url}: ${message}`;
}
