import { CausedError } from "../../errors.ts";
import { renderAtoms } from "../../knowledge/atoms/render.ts";
import type { OpenKnowledge } from "../../knowledge/for-sweep.ts";
import { type Candidate, search } from "../../knowledge/search/search.ts";
import { middleLeftOut } from "../../middle-left-out.ts";
import type { DecideContext } from "../system.ts";
import type { Retrieval, TurnNote } from "./note.ts";
import type { SetupxOptions } from "./options.ts";
import { type SelectOutput, select } from "./roles/select.ts";
import { situation } from "./roles/situation.ts";
import type { Suggestion, Turn } from "./roles/turn.ts";
import { SIZES } from "./sizes.ts";

export interface Found {
  retrieval: Retrieval | null;
  suggestions: Suggestion[];
}

/** Of a turn, what the Retriever needs to know. */
export interface Need {
  turns: readonly Turn[];
  lastError: string;
  tried: ReadonlySet<string>;
}

/**
 * The Retriever, in a context of its own: describes the situation, searches, and lets the Selector choose, or takes the
 * first ones (Direct). The agent sees only what comes out of it.
 */
export async function retrieve(context: DecideContext, options: SetupxOptions, need: Need): Promise<Found> {
  const knowledge = await context.knowledge(options.knowledge);
  const sizes = SIZES[options.profile];
  const text = await describe(context, need, sizes.error);
  const found = await search(
    knowledge.base,
    { text, language: context.task.language },
    {
      profile: options.profile,
      limit: options.retriever === "direct" ? sizes.chosen : sizes.candidates,
      exclude: new Set([...knowledge.excluded, ...need.tried]),
    },
  );
  const chosen =
    options.retriever === "direct"
      ? direct(found, options.profile)
      : await selected(context, text, found, sizes.chosen);
  const suggestions = chosen.map(({ candidate, reason, confidence }) =>
    suggestionOf(candidate, need.turns, reason, confidence),
  );
  await countHits(context, knowledge, suggestions);
  const retrieval = { situation: text, turn: context.step, found: found.map(brief) };
  return { retrieval, suggestions };
}

/** A failure that stays has its suggestions as long as one of them is left to try. */
export function stillOpen(last: TurnNote | undefined, need: Need): Found | null {
  if (last === undefined || last.retrieval === null || last.lastError !== need.lastError) return null;
  const left = last.suggestions.filter(({ unit }) => !need.tried.has(unit));
  return left.length === 0 ? null : { retrieval: last.retrieval, suggestions: left };
}

async function describe(context: DecideContext, { turns, lastError }: Need, size: number): Promise<string> {
  const error = middleLeftOut(lastError, size);
  const commands = turns
    .flatMap(({ action, result }) =>
      action.kind === "shell" ? [{ command: action.command.slice(0, 300), exit: result?.exit ?? null }] : [],
    )
    .slice(-3);
  const { summary } = await context.ask(situation, { language: context.task.language, commands, error });
  const raw = commands.map(({ command, exit }) => `[exit ${exit ?? "unknown"}] ${command}`);
  return [summary, ...raw, error].filter(Boolean).join("\n");
}

interface Chosen {
  candidate: Candidate;
  reason: string;
  confidence: number;
}

/** In the published code Direct ranks by likeness alone. */
function direct(found: readonly Candidate[], profile: SetupxOptions["profile"]): Chosen[] {
  const ranked =
    profile === "published" ? [...found].sort((a, b) => b.similarity - a.similarity) : [...found];
  return ranked.map((candidate) => ({
    candidate,
    reason: "",
    confidence: Math.min(1, Math.max(candidate.similarity, candidate.regex === null ? 0 : 0.9)),
  }));
}

async function selected(
  context: DecideContext,
  text: string,
  found: readonly Candidate[],
  most: number,
): Promise<Chosen[]> {
  if (found.length === 0) return [];
  const input = {
    situation: text,
    candidates: found.map((candidate) => ({
      ...brief(candidate),
      advice: candidate.unit.advice_nl,
      keywords: candidate.unit.signals.keywords,
      pattern: candidate.regex,
      tools: candidate.unit.signals.applicability.tools,
      runs: candidate.unit.atoms.length > 0,
      ...candidate.unit.telemetry,
    })),
    most,
  };
  const answer = await context.ask(select, input).catch((error): SelectOutput => {
    // Without a usable answer the ranking decides.
    if (!(error instanceof CausedError) || error.failure !== "model_refused_output") throw error;
    return {
      selected: found.map(({ unit, composite }) => ({ unit: unit.id, reason: "", confidence: composite })),
    };
  });
  const byId = new Map(found.map((candidate) => [candidate.unit.id, candidate]));
  return answer.selected.slice(0, most).flatMap(({ unit, reason, confidence }) => {
    const candidate = byId.get(unit);
    return candidate === undefined
      ? []
      : [{ candidate, reason, confidence: Math.min(1, Math.max(0, confidence)) }];
  });
}

function brief({ unit, similarity, composite, tier }: Candidate) {
  return { unit: unit.id, similarity, composite, tier };
}

function suggestionOf(
  { unit, captures }: Candidate,
  turns: readonly Turn[],
  reason: string,
  confidence: number,
): Suggestion {
  const { environment, umask, commands } = renderAtoms(unit.atoms, {
    python: interpreterOf(turns),
    captures,
  });
  return {
    unit: unit.id,
    advice: unit.advice_nl,
    commands,
    environment,
    umask,
    reason,
    confidence,
  };
}

/** Whose pip is meant: that of the environment which the commands so far are about. */
function interpreterOf(turns: readonly Turn[]): string {
  const commands = turns.map(({ action }) => (action.kind === "shell" ? action.command : "")).join("\n");
  if (commands.includes("/workspace/venv")) return "/workspace/venv/bin/python";
  return /(?:^|[\s/])\.venv\b/.test(commands) ? "/workspace/repo/.venv/bin/python" : "python3";
}

async function countHits(
  { run, step }: DecideContext,
  { base, live }: OpenKnowledge,
  suggestions: readonly Suggestion[],
): Promise<void> {
  if (!live) return;
  const hit = (unit: string) => ({ id: `${run}/${step}/${unit}/hit`, unit, kind: "hit" as const });
  await base.store.record(suggestions.map(({ unit }) => hit(unit)));
}
