import test from "ava";
import { diffUnits } from "../../activities/knowledge/diff.ts";
import { baseDigest } from "../../activities/knowledge/digest.ts";
import { formatPublished, formatUnits, parseUnits } from "../../activities/knowledge/jsonl.ts";
import { unitOf } from "./units.ts";

/** As the published list writes them: five fields, gaps, a version as a number, atoms of unknown names. */
const PUBLISHED = [
  {
    id: "xpu_1",
    signals: {
      applicability: { lang: "python", os: "linux", python: [3.1, "3.11"], tools: null },
      regex: ["No module named"],
      keywords: ["pip"],
    },
    advice_nl: "one text",
    atoms: [
      { name: "pip_install", args: { name: "x" } },
      { name: "apply_patch", args: { file: "setup.py" } },
    ],
    telemetry: { hits: 3 },
    extra: "of another tool",
  },
  { id: "xpu_2", signals: {}, advice_nl: [], atoms: null, telemetry: null },
]
  .map((unit) => JSON.stringify(unit))
  .join("\n");

test("the published records are read with their gaps; unknown atoms are kept and counted", (t) => {
  const { units, unknownAtoms } = parseUnits(`${PUBLISHED}\n\n`, "xpu.jsonl");
  t.deepEqual(unknownAtoms, { apply_patch: 1 });
  const [first, second] = units;
  t.deepEqual(first?.signals.applicability, {
    lang: "python",
    os: ["linux"],
    python: ["3.1", "3.11"],
    tools: [],
  });
  t.deepEqual(first?.advice_nl, ["one text"]);
  t.is(first?.atoms.length, 2);
  t.deepEqual(first?.telemetry, { hits: 3, successes: 0, failures: 0 });
  t.is(first?.provenance.made, "unknown");
  t.is(first?.provenance.repositories, null);
  t.deepEqual(second?.atoms, []);
});

test("what is written is read back as it was, whole or in the five published fields", (t) => {
  const { units } = parseUnits(PUBLISHED, "xpu.jsonl");
  t.deepEqual(parseUnits(formatUnits(units), "x").units, units);
  const published = formatPublished(units);
  t.deepEqual(Object.keys(JSON.parse(published.split("\n")[0] ?? "")), [
    "id",
    "signals",
    "advice_nl",
    "atoms",
    "telemetry",
  ]);
  t.deepEqual(parseUnits(published, "x").units, units);
});

test("a line that can't be used is named with its key and what to do", (t) => {
  const said = (line: string) =>
    t.throws(() => parseUnits(`${PUBLISHED}\n${line}`, "xpu.jsonl"), { name: "UsageError" })?.message ?? "";
  t.regex(said("{"), /^xpu\.jsonl:3: not JSON .*correct or remove the line$/);
  t.regex(said('{"signals": {}}'), /^xpu\.jsonl:3: id: .*correct or remove/);
  t.regex(said('{"id": "a", "signals": {"regex": [{}]}}'), /^xpu\.jsonl:3: signals\.regex\[0\]: /);
  t.regex(said('{"id": "xpu_1", "signals": {}}'), /^xpu\.jsonl:3: id: xpu_1 is there already/);
});

test("a digest says all that a search depends on, and nothing of the order", (t) => {
  const [a, b] = [unitOf("a", "alpha"), unitOf("b", "beta")];
  const digest = baseDigest([a, b], "lexical");
  t.is(baseDigest([b, a], "lexical"), digest);
  t.not(baseDigest([a, b], "other"), digest);
  t.not(baseDigest([a], "lexical"), digest);
  t.not(baseDigest([a, { ...b, telemetry: { ...b.telemetry, hits: 1 } }], "lexical"), digest);
});

test("a difference names units and the fields that changed", (t) => {
  const before = [unitOf("a", "alpha"), unitOf("b", "beta"), unitOf("c", "gamma")];
  const after = [unitOf("a", "alpha"), unitOf("b", "other"), unitOf("d", "delta")];
  t.deepEqual(diffUnits(before, after), [
    { id: "b", change: "changed", fields: ["signals", "advice_nl"] },
    { id: "c", change: "removed", fields: [] },
    { id: "d", change: "added", fields: [] },
  ]);
  t.deepEqual(diffUnits(before, before), []);
});
