import test from "ava";
import { memoryBase } from "../../../activities/knowledge/base.ts";
import { lexicalEmbedding } from "../../../activities/knowledge/embedding/lexical.ts";
import { unitSchema } from "../../../activities/knowledge/unit.ts";
import type { Notes } from "../../../activities/store/notes.ts";
import type { Step } from "../../../activities/store/trajectory.ts";
import { learnFromLast } from "../../../activities/systems/setupx/learn.ts";
import type { TurnNote } from "../../../activities/systems/setupx/note.ts";
import { optionsOf } from "../../../activities/systems/setupx/options.ts";
import type { AuditInput } from "../../../activities/systems/setupx/roles/audit.ts";
import { auditByRules } from "../../../activities/systems/setupx/rules/audit.ts";
import type { DecideContext } from "../../../activities/systems/system.ts";
import type { Move } from "../../../workflows/moves.ts";

const OPTIONS = {
  xpu: true,
  retriever: "selector",
  knowledge: "k",
  speculate: 1,
  profile: "default",
} as const;
const PIP = "pip install six";

function notesFrom(turns: readonly TurnNote[]): Notes {
  const kept = new Map<string, unknown>(turns.map((note, index) => [`turn-${index + 1}`, note]));
  return {
    read: async (name) => kept.get(name) ?? null,
    async once(name, make) {
      if (!kept.has(name)) kept.set(name, await make());
      return kept.get(name) as Awaited<ReturnType<typeof make>>;
    },
  };
}

function note(action: TurnNote["action"], more: Partial<TurnNote> = {}): TurnNote {
  const rest = { lastError: null, retrieval: null, suggestions: [], candidates: [], refusal: "" };
  return { thought: "", action, ...rest, ...more };
}

function step(turn: number, part: number, move: Move, exit: number): Step {
  const output = { text: "", bytes: 0, omitted: 0 };
  const command = move.kind === "command" ? move.script : null;
  const observation = { exit, end: "exited" as const, seconds: 1, stdout: output, stderr: output };
  return { step: turn, part, move, command, values: null, observation };
}

const suggestion = (unit: string, command: string) => ({
  ...{ unit, advice: [unit], commands: [command], environment: {}, umask: null, reason: "", confidence: 1 },
});
const recommended = {
  retrieval: { situation: "No module named six", turn: 2, found: [] },
  suggestions: [
    suggestion("tried", PIP),
    suggestion("followed", "make deps"),
    suggestion("ignored", "other"),
  ],
};

async function learnt(live: boolean, turns: TurnNote[], trajectory: Step[], times = 1) {
  const ids = ["tried", "followed", "ignored"];
  const units = ids.map((id) => unitSchema.parse({ id, signals: { keywords: [id] } }));
  const base = await memoryBase("k", units, lexicalEmbedding);
  const context = {
    ...{ run: "s/c/1", step: turns.length + 1, part: 0, about: "close", trajectory },
    notes: notesFrom(turns),
    knowledge: async () => ({ base, excluded: new Set<string>(), live }),
    ask: async (_: unknown, input: AuditInput) => auditByRules(input),
  } as unknown as DecideContext;
  for (let time = 0; time < times; time++) await learnFromLast(context, optionsOf(OPTIONS));
  const found = await base.store.get(ids);
  return Object.fromEntries(
    found.map(({ id, telemetry }) => [id, [telemetry.successes, telemetry.failures]]),
  );
}

const TURNS = [
  note({ kind: "shell", command: "pytest" }),
  note(
    { kind: "try", unit: "tried", commands: [] },
    { ...recommended, candidates: [{ unit: "tried", commands: [PIP], values: null, check: null }] },
  ),
  note({ kind: "shell", command: "make deps" }),
];
const STEPS = [
  step(1, 0, { kind: "command", script: "pytest", seconds: null }, 1),
  step(2, 900, { kind: "push", frame: "try-2" }, 0),
  step(2, 901, { kind: "command", script: PIP, seconds: null }, 1),
  step(2, 999, { kind: "pop", frame: "try-2" }, 0),
  step(3, 0, { kind: "command", script: "make deps", seconds: null }, 0),
];

test("a live base learns from tries at once and from what was followed later, each once", async (t) => {
  t.deepEqual(await learnt(true, TURNS, STEPS, 3), { tried: [0, 1], followed: [1, 0], ignored: [0, 0] });
});

test("a frozen base learns nothing", async (t) => {
  t.deepEqual(await learnt(false, TURNS, STEPS), { tried: [0, 0], followed: [0, 0], ignored: [0, 0] });
});

test("a set-up that ended in a turn without a decision is judged by the turns before", async (t) => {
  const found = await learnt(true, [...TURNS, null as unknown as TurnNote], STEPS);
  t.deepEqual(found.followed, [1, 0]);
});
