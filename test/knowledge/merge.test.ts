import test from "ava";
import { memoryBase } from "../../activities/knowledge/base.ts";
import { lexicalEmbedding } from "../../activities/knowledge/embedding/lexical.ts";
import { absorb, dedup } from "../../activities/knowledge/merge/absorb.ts";
import { combine } from "../../activities/knowledge/merge/combine.ts";
import { judgeByRules } from "../../activities/knowledge/merge/judge.ts";
import { search } from "../../activities/knowledge/search/search.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { unitOf } from "./units.ts";

const told = (hits: number, successes: number, failures: number) => ({ hits, successes, failures });
const PIP = (name: string, spec = "") => ({ name: "pip_install", args: { name, ...(spec && { spec }) } });

function unit(id: string, more: Partial<Unit> & { regex?: string[]; keywords?: string[] } = {}): Unit {
  const { regex, keywords, ...rest } = more;
  const made = unitOf(id, "ffi.h", { advice_nl: ["Install the headers of libffi."], ...rest });
  made.signals.regex = regex ?? ["ffi\\.h: No such file"];
  made.signals.keywords = keywords ?? ["ffi.h", "libffi", "headers"];
  return made;
}

test("two units become one that says and counts what both do", (t) => {
  const known = unit("a", { telemetry: told(3, 1, 0), atoms: [PIP("cffi", "<2"), PIP("wheel")] });
  known.signals.applicability = { lang: "python", os: ["linux"], python: ["3.10"], tools: [] };
  known.provenance.repositories = [{ name: "o/one", aliases: [], forkOf: null, rootCommit: null }];
  const incoming = unit("b", {
    telemetry: told(2, 0, 4),
    regex: ["ffi\\.h: No such file", "libffi missing"],
    keywords: ["LIBFFI", "cffi"],
    advice_nl: ["install the headers of libffi", "Then build again."],
    atoms: [PIP("CFFI"), PIP("wheel"), PIP("setuptools")],
  });
  incoming.signals.applicability = {
    lang: "python",
    os: ["linux", "macos"],
    python: ["3.11"],
    tools: ["pip"],
  };
  incoming.provenance.repositories = [{ name: "t/two", aliases: [], forkOf: null, rootCommit: null }];
  const both = combine(known, incoming);
  t.is(both.id, "a");
  t.deepEqual(both.telemetry, told(5, 1, 4));
  t.deepEqual(both.signals.regex, ["ffi\\.h: No such file", "libffi missing"]);
  t.deepEqual(both.signals.keywords, ["ffi.h", "libffi", "headers", "cffi"]);
  t.deepEqual(both.signals.applicability, {
    lang: "python",
    os: ["linux", "macos"],
    python: ["3.10", "3.11"],
    tools: [],
  });
  t.deepEqual(both.advice_nl, ["Install the headers of libffi.", "Then build again."]);
  t.deepEqual(both.atoms, [PIP("cffi", "<2"), PIP("wheel"), PIP("setuptools")]);
  t.deepEqual(
    both.provenance.repositories?.map(({ name }) => name),
    ["o/one", "t/two"],
  );
  t.deepEqual(both.provenance.from, ["a", "b"]);
  t.is(
    combine(known, unit("c", { provenance: { ...known.provenance, repositories: null } })).provenance
      .repositories,
    null,
  );
});

test("the rules hold units for the same that match alike and do alike", async (t) => {
  const same = async (a: Unit, b: Unit) => (await judgeByRules(a, b)).same;
  t.true(await same(unit("a"), unit("b")));
  t.true(await same(unit("a", { regex: ["x1"] }), unit("b", { regex: ["x2"] })));
  t.false(await same(unit("a"), unit("b", { regex: ["other"], keywords: ["other"] })));
  t.true(
    await same(
      unit("a", { atoms: [PIP("x")] }),
      unit("b", { atoms: [{ name: "pip_pin", args: { name: "x", spec: "*" } }] }),
    ),
  );
  t.false(await same(unit("a", { atoms: [PIP("x")] }), unit("b", { atoms: [PIP("y")] })));
  const foreign = unit("b");
  foreign.signals.applicability.lang = "go";
  t.false(await same(unit("a"), foreign));
});

test("what is absorbed is merged with the near one that is the same, and found by what it brought", async (t) => {
  const base = await memoryBase(
    "test",
    [unit("a", { telemetry: told(1, 1, 0) }), unitOf("z", "display")],
    lexicalEmbedding,
  );
  const bringing = unit("b", {
    regex: ["ffi\\.h: No such file", "brandnewmarker"],
    telemetry: told(1, 0, 0),
  });
  const done = await absorb(base, [bringing, unitOf("z", "screen"), unitOf("n", "entirely else")], {
    judge: judgeByRules,
    threshold: 0.6,
  });
  t.deepEqual(
    done.map(({ id, outcome, into }) => [id, outcome, into]),
    [
      ["b", "merged", "a"],
      ["z", "replaced", null],
      ["n", "added", null],
    ],
  );
  t.deepEqual((await base.store.get(["a"]))[0]?.telemetry, told(2, 1, 0));
  t.deepEqual(await base.store.get(["b"]), []);
  const [first] = await search(
    base,
    { text: "brandnewmarker" },
    { profile: "published", limit: 1, minimum: 0.01 },
  );
  t.is(first?.unit.id, "a", "the vector is that of the merged text");
  await base.store.close();
});

test("near units that a judge tells apart both stay", async (t) => {
  const base = await memoryBase("test", [unit("a")], lexicalEmbedding);
  const asked: string[] = [];
  const judge = async (known: Unit, incoming: Unit) => {
    asked.push(`${known.id} ${incoming.id}`);
    return { same: false, reason: "says the judge" };
  };
  t.is((await absorb(base, [unit("b")], { judge }))[0]?.outcome, "added");
  t.deepEqual(asked, ["a b"]);
  t.is(await base.store.count(), 2);
  await base.store.close();
});

test("a base without doubles stays as it is, and one with them is cleaned once", async (t) => {
  const base = await memoryBase(
    "test",
    [unit("c"), unit("a"), unit("b"), unitOf("z", "display")],
    lexicalEmbedding,
  );
  const done = await dedup(base, { judge: judgeByRules });
  t.deepEqual(
    done.map(({ id, into }) => `${id} ${into}`),
    ["b a", "c a"],
  );
  t.deepEqual(
    (await base.store.all()).map(({ id }) => id),
    ["a", "z"],
  );
  t.deepEqual(await dedup(base, { judge: judgeByRules }), []);
  await base.store.close();
});
