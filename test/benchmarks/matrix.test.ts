import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { addsArms } from "../../benchmarks/cells.ts";
import { loadMatrix } from "../../benchmarks/matrix.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { planOf } from "../support/plan.ts";
import { scratchFolder } from "../support/scratch.ts";

const arm = (id: string, options = {}) => ({ id, system: "setupx", model: null, options });

function lockOf(changes: Partial<SweepPlan["lock"]>): SweepPlan["lock"] {
  return { ...planOf("local", "t").lock, matrix: "m", arms: [arm("a")], ...changes };
}

test("the matrix of the ablation loads, with switches however YAML reads them", async (t) => {
  const matrix = await loadMatrix("setupx");
  t.deepEqual(matrix.axes.xpu, ["on", "off"]);
  t.deepEqual(Object.keys(matrix.bases), ["noisy"]);
});

test("a matrix of an unknown name, or with a wrong key, is refused in one line", async (t) => {
  await t.throwsAsync(loadMatrix("setup"), { instanceOf: UsageError, message: /nearest: setupx/ });
  const file = join(await scratchFolder("matrix-"), "m.yaml");
  await writeFile(file, "matrix: m\ntitle: M\nsystem: setupx\naxes: { colour: [red] }\n");
  await t.throwsAsync(loadMatrix(file), { instanceOf: UsageError, message: /m\.yaml: axes: .*colour/ });
  await writeFile(file, "axes: [\n");
  await t.throwsAsync(loadMatrix(file), { instanceOf: UsageError, message: /m\.yaml: / });
});

test("a matrix may get more arms with what they need, and nothing else of it may change", (t) => {
  const before = lockOf({});
  const knowledge = { noisy: { digest: "d", embedding: "lexical" } };
  t.true(addsArms(before, lockOf({ arms: [arm("new"), arm("a")], knowledge })));
  t.false(addsArms(before, lockOf({})));
  t.false(addsArms(before, lockOf({ arms: [arm("a", { xpu: false }), arm("new")] })));
  t.false(addsArms(before, lockOf({ arms: [arm("a"), arm("new")], repeats: 2 })));
  t.false(addsArms(lockOf({ arms: [arm("a"), arm("b")] }), lockOf({ arms: [arm("a"), arm("c")] })));
  t.false(addsArms(lockOf({ matrix: null }), lockOf({ matrix: null, arms: [arm("a"), arm("b")] })));
});
