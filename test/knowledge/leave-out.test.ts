import test from "ava";
import { memoryBase } from "../../activities/knowledge/base.ts";
import { lexicalEmbedding } from "../../activities/knowledge/embedding/lexical.ts";
import { leaveOut, measuredOf } from "../../activities/knowledge/leave-out.ts";
import { combine } from "../../activities/knowledge/merge/combine.ts";
import { makeNoise } from "../../activities/knowledge/noise/noise.ts";
import { search } from "../../activities/knowledge/search/search.ts";
import type { Origin, Unit } from "../../activities/knowledge/unit.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { unitOf } from "./units.ts";

const origin = (name: string, more: Partial<Origin> = {}): Origin => ({
  name,
  aliases: [],
  forkOf: null,
  rootCommit: null,
  ...more,
});

function from(id: string, repositories: Origin[] | null): Unit {
  return unitOf(id, "widget", {
    provenance: { made: "distilled", repositories, sweep: null, run: null, from: [] },
  });
}

test("units of a measured repository are left out by name, rename and fork, and no others", (t) => {
  const measured = [origin("acme/Widget", { rootCommit: "c0ffee" })];
  const units = [
    from("name", [origin("acme/widget")]),
    from("address", [origin("https://github.com/Acme/Widget.git")]),
    from("ssh", [origin("git@github.com:acme/widget.git")]),
    from("alias", [origin("acme/gadget", { aliases: ["acme/widget"] })]),
    from("renamed", [origin("acme/old-name")]),
    from("fork", [origin("someone/patched", { forkOf: "acme/widget" })]),
    from("fork-of-fork", [origin("third/copy")]),
    from("moved", [origin("new-owner/widget")]),
    from("root", [origin("other/thing", { rootCommit: "c0ffee" })]),
    from("second", [origin("fine/one"), origin("acme/widget")]),
    from("fine", [origin("fine/one")]),
    from("similar", [origin("acme/widgets")]),
    from("hand-made", []),
    from("silent", null),
  ];
  const { left, unproven } = leaveOut(units, measured, {
    renames: [["acme/old-name", "acme/widget"]],
    forks: [["third/copy", "someone/patched"]],
  });
  t.deepEqual(
    [...left.keys()],
    ["name", "address", "ssh", "alias", "renamed", "fork", "fork-of-fork", "moved", "root", "second"],
  );
  t.deepEqual(unproven, ["silent"]);
});

test("distributions are told by their names as an index compares them", (t) => {
  const units = [from("a", [origin("owner/Typing.Extensions")]), from("b", [origin("typing_extensions")])];
  t.is(leaveOut(units, [origin("typing-extensions")]).left.size, 2);
});

test("of a base that learnt from every repository of a suite, nothing is left to show for it", async (t) => {
  const [measured, other] = [await loadSuite("envbench-100"), await loadSuite("pypi-sdist")];
  const tasks = measured.suite.tasks.map(measuredOf);
  const units = tasks.map(({ name }, n) =>
    from(`own-${String(n).padStart(3, "0")}`, [
      n % 3 === 0
        ? origin(`https://github.com/${name}`)
        : n % 3 === 1
          ? origin(`fork-${n}/${name.split("/")[1]}`)
          : origin(`x/y-${n}`, { forkOf: name.toUpperCase() }),
    ]),
  );
  const foreign = from("foreign", [origin("nobody/unmeasured-thing")]);
  const merged = combine(from("zz-merged", [origin("nobody/else")]), units[0] as Unit);
  const noise = makeNoise(units, 100, 1);
  const base = await memoryBase("test", [...units, foreign, merged, ...noise], lexicalEmbedding);
  const { left, unproven } = leaveOut(await base.store.all(), tasks);
  t.deepEqual(unproven, []);
  const found = await search(
    base,
    { text: "widget" },
    { profile: "default", limit: 500, exclude: new Set(left.keys()) },
  );
  const shown = found.map(({ unit }) => unit.id).filter((id) => !id.startsWith("noise-foreign"));
  t.deepEqual(shown, ["foreign"]);
  t.false(leaveOut(units, other.suite.tasks.map(measuredOf)).left.size > units.length / 10);
  await base.store.close();
});
