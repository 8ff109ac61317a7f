import test from "ava";
import {
  LEXICAL_NAME,
  lexicalEmbedding,
  lexicalVector,
} from "../../activities/knowledge/embedding/lexical.ts";
import { unitText } from "../../activities/knowledge/embedding/unit-text.ts";
import type { Store } from "../../activities/knowledge/store/store.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { libsqlKind, qdrantKind, type StoreKind } from "./stores.ts";
import { unitOf } from "./units.ts";

const CREATE = { embedding: LEXICAL_NAME, dimension: lexicalEmbedding.dimension };
const ENTRY = (unit: Unit) => ({ unit, vector: lexicalVector(unitText(unit)) });
const COUNTS = { hits: 0, successes: 0, failures: 0 };

/** One contract, whatever holds the base. */
function contract(name: string, make: () => Promise<StoreKind>): void {
  let kind: StoreKind;
  test.before(async () => {
    kind = await make();
  });
  test.after.always(() => kind?.stop());

  async function filled(units: Unit[]): Promise<Store> {
    const store = await kind.open(CREATE);
    await store.put(units.map(ENTRY));
    return store;
  }

  test(`${name}: a base gives back what was put into it, by id and all of it`, async (t) => {
    const atoms = [{ name: "pip_install", args: { name: "wheel", flags: ["--no-deps"] } }];
    const units = [
      unitOf("b/2", "wheel", { atoms, telemetry: { hits: 7, successes: 2, failures: 1 } }),
      unitOf("a'\"1", "gcc — ünïcode"),
    ];
    const store = await filled(units);
    t.is(await store.count(), 2);
    t.deepEqual(await store.all(), units.toReversed());
    t.deepEqual(await store.get(["b/2", "nobody", "a'\"1"]), units);
    t.deepEqual(await store.get([]), []);
    t.deepEqual(await store.identity(), { ...CREATE, frozen: null });
    await store.close();
  });

  test(`${name}: the nearest units come first, without those that are excluded, of another language or too far`, async (t) => {
    const foreign = unitOf("4", "compiler gcc missing");
    foreign.signals.applicability.lang = "rust";
    const store = await filled([
      unitOf("1", "compiler gcc missing"),
      unitOf("2", "compiler missing"),
      unitOf("3", "display server"),
      foreign,
    ]);
    const query = lexicalVector("compiler gcc missing");
    const ids = async (more: { exclude?: Set<string>; language?: string; limit?: number }) =>
      (await store.nearest(query, { limit: 10, minimum: 0.1, ...more })).map(({ id }) => id);
    t.deepEqual(await ids({ language: "python" }), ["1", "2"]);
    t.deepEqual(await ids({ language: "python", exclude: new Set(["1"]) }), ["2"]);
    t.deepEqual(await ids({ language: "rust" }), ["4"]);
    t.deepEqual(await ids({ language: "python", limit: 1 }), ["1"]);
    const [first] = await store.nearest(query, { limit: 1, minimum: 0.1, language: "python" });
    const vector = lexicalVector(unitText(unitOf("1", "compiler gcc missing")));
    const cosine = query.reduce((sum, value, index) => sum + value * (vector[index] ?? 0), 0);
    t.true(Math.abs((first?.similarity ?? 0) - cosine) < 1e-4);
    await store.close();
  });

  test(`${name}: putting a unit again replaces what it says and keeps its counters unless asked otherwise`, async (t) => {
    const store = await filled([unitOf("1", "alpha", { telemetry: { hits: 5, successes: 1, failures: 0 } })]);
    const before = await store.revision();
    await store.record([{ id: "e1", unit: "1", kind: "hit" }]);
    t.is(await store.revision(), before);
    await store.put([ENTRY(unitOf("1", "omega"))]);
    t.not(await store.revision(), before);
    const [kept] = await store.get(["1"]);
    t.deepEqual(kept?.telemetry, { hits: 6, successes: 1, failures: 0 });
    t.deepEqual(kept?.signals.keywords, ["omega"]);
    t.is((await store.nearest(lexicalVector("omega"), { limit: 1, minimum: 0.2 }))[0]?.id, "1");
    await store.put([ENTRY(unitOf("1", "omega", { telemetry: { ...COUNTS, hits: 2 } }))], {
      telemetry: "replace",
    });
    t.deepEqual((await store.get(["1"]))[0]?.telemetry, { ...COUNTS, hits: 2 });
    await store.record([{ id: "e2", unit: "1", kind: "failure" }]);
    t.deepEqual((await store.get(["1"]))[0]?.telemetry, { hits: 2, successes: 0, failures: 1 });
    await store.close();
  });

  test(`${name}: a removed unit is found no more`, async (t) => {
    const store = await filled([unitOf("1", "alpha"), unitOf("2", "beta")]);
    t.is((await store.nearest(lexicalVector("alpha"), { limit: 1, minimum: 0.2 }))[0]?.id, "1");
    await store.remove(["1", "never"]);
    t.deepEqual(await store.nearest(lexicalVector("alpha"), { limit: 1, minimum: 0.2 }), []);
    t.deepEqual(
      (await store.all()).map(({ id }) => id),
      ["2"],
    );
    await store.close();
  });

  test(`${name}: an event counts once, however often and by whomever it is recorded`, async (t) => {
    const address = kind.address();
    const first = await kind.open(CREATE, address);
    await first.put([ENTRY(unitOf("1", "alpha")), ENTRY(unitOf("2", "beta"))]);
    const second = await kind.open(null, address);
    const events = ["hit", "success", "failure"].map((what, index) => ({
      id: `run/step/${index}`,
      unit: "1",
      kind: what as "hit",
    }));
    await Promise.all([first.record(events), second.record(events), first.record(events)]);
    await second.record([{ id: "other", unit: "nobody", kind: "hit" }]);
    t.deepEqual((await second.get(["1"]))[0]?.telemetry, { hits: 1, successes: 1, failures: 1 });
    t.deepEqual((await first.get(["2"]))[0]?.telemetry, COUNTS);
    await Promise.all([first.close(), second.close()]);
  });

  test(`${name}: a frozen base refuses every change and says so after it is opened again`, async (t) => {
    const address = kind.address();
    const store = await kind.open(CREATE, address);
    await store.put([ENTRY(unitOf("1", "alpha"))]);
    await store.freeze("f".repeat(64));
    const again = await kind.open(null, address);
    t.is((await again.identity()).frozen, "f".repeat(64));
    for (const change of [
      () => again.put([ENTRY(unitOf("2", "beta"))]),
      () => again.remove(["1"]),
      () => again.record([{ id: "e", unit: "1", kind: "hit" }]),
      () => store.freeze("0".repeat(64)),
    ]) {
      await t.throwsAsync(change, { name: "UsageError", message: /is frozen \(ffffffffffff\)/ });
    }
    t.deepEqual((await again.get(["1"]))[0]?.telemetry, COUNTS);
    await Promise.all([store.close(), again.close()]);
  });

  test(`${name}: a base of another embedding, or none at all, is refused`, async (t) => {
    const address = kind.address();
    await (await kind.open(CREATE, address)).close();
    const other = { embedding: "openai:m@8", dimension: 8 };
    await t.throwsAsync(() => kind.open(other, address), { name: "UsageError", message: /holds vectors of/ });
    await t.throwsAsync(() => kind.open(null), { name: "UsageError", message: /not a knowledge base/ });
  });
}

contract("libSQL", libsqlKind);
contract("Qdrant", qdrantKind);
