import test from "ava";
import { stateFolder as clusterFolder, kubeconfigPath } from "../../../k8s/testcluster/folders.ts";
import type { RunRecord } from "../../../results/record.ts";
import { onCluster, type TestNamespace } from "../../support/cluster.ts";
import { bench, freshState, leftOvers, recordsOf } from "../../sweeps/bench.ts";
import { comparable } from "../../sweeps/same-records.ts";
import { FAULTS, type Fault, NOTHING, VICTIM } from "./faults.ts";
import { type Execution, type Gate, openGate } from "./gate.ts";
import { CELLS, writeGuarded } from "./guarded.ts";

/** Names of the faults to provoke, else all: BENCH_TEST_FAULTS=deleted,cut. */
const CHOSEN = process.env.BENCH_TEST_FAULTS?.split(",") ?? FAULTS.map(({ name }) => name);
/** Each cell's set-up, its replay and its tests. */
const CALM_EXECUTIONS = CELLS * 3;

await onCluster("faults", (subject) => {
  // Only that cluster's components are ours to restart.
  if (subject.kubeconfig !== kubeconfigPath(clusterFolder()))
    return test.skip("faults: the cluster is not the test cluster", () => {});
  registerFaults(subject);
});

function registerFaults({ kubeconfig, namespace, cluster, base }: TestNamespace): void {
  let [state, gate] = ["", {} as Gate];
  test.before(async () => {
    const fresh = await freshState();
    ({ state } = fresh);
    ends.push(fresh.end);
    gate = await openGate(cluster);
    ends.push(async () => gate.close());
  });
  const ends: (() => Promise<void>)[] = [];
  test.after.always(async () => {
    for (const end of ends.reverse()) await end();
  });
  const driver = ["--driver", "kubernetes", "--kubeconfig", kubeconfig, "--kube-namespace", namespace];
  const sweep = async (id: string, options: readonly string[] = []) => {
    const guarded = await writeGuarded(state, gate.address);
    const limits = ["--memory", "1G", "--disk", "600M", "--headroom", "50"];
    const image = ["--base", `docker://${(await base()).location}`];
    return bench(state, [...guarded, ...driver, ...limits, ...image, ...options, "--id", id]);
  };
  /** What the reaper destroys now. */
  const reaped = async () => {
    const { stdout, exitCode, all } = await bench(state, ["gc", ...driver, "--json"]);
    if (exitCode !== 0) throw new Error(`gc: exit ${exitCode}\n${all}`);
    return (JSON.parse(stdout) as { destroyed: string[] }).destroyed;
  };
  /** The whole of the sweep, with the fault in each of its stages; `destroyed`: by the reaper meanwhile. */
  const disturbed = async (fault: Fault) => {
    const destroyed: string[] = [];
    let next = gate.hold(fault.stages[0] ?? "setup", CELLS);
    const swept = sweep(fault.name, fault.options);
    const ended = swept.then(({ all }) => Promise.reject(new Error(`it ended before its fault:\n${all}`)));
    ended.catch(() => {});
    for (const [i, stage] of fault.stages.entries()) {
      const held = await Promise.race([next, ended]);
      const victim = held.find(({ cell }) => cell === VICTIM);
      if (victim === undefined) throw new Error(`${VICTIM} is not among ${held.map(({ cell }) => cell)}`);
      const following = fault.stages[i + 1];
      if (following !== undefined) next = gate.hold(following, CELLS);
      const scene = { cluster, state, stage, held, victim };
      const [taken] = await Promise.all([reaped(), fault.provoke(scene)]);
      destroyed.push(...taken);
      for (const { release } of held) release();
    }
    return { ...(await swept), destroyed };
  };
  const left = async () => {
    const { items } = await cluster.core("list pods", (api) => api.listNamespacedPod({ namespace }));
    return [...items.map(({ metadata }) => `pod ${metadata?.name}`), ...(await leftOvers(state))];
  };

  let calm: ReturnType<typeof comparable> = [];

  test.serial("without a fault every guarded command runs once in each sandbox", async (t) => {
    t.timeout(15 * 60_000);
    const ran = await sweep("calm");
    t.is(ran.exitCode, 0, ran.all);
    const records = await recordsOf(state, "calm");
    t.deepEqual(
      records.map(({ essr, ebsr, tests }) => [essr, ebsr, tests?.passed]),
      Array(CELLS).fill([null, true, 2]),
    );
    calm = comparable(records);
    t.is(onceEach(gate.executions()), CALM_EXECUTIONS);
    t.deepEqual(await left(), []);
  });

  for (const fault of FAULTS.filter(({ name }) => CHOSEN.includes(name))) {
    const { name, stages, title } = fault;
    test.serial(`${title} during commands of a sweep (${stages.join(", ")}; ${name})`, async (t) => {
      t.timeout(30 * 60_000);
      const ran = await disturbed(fault);
      t.is(ran.exitCode, 0, ran.all);
      const records = await recordsOf(state, name);
      t.log(
        records
          .map(({ cell, attempt, sandbox }) => `${cell}: attempt ${attempt}, ${losses(sandbox)}`)
          .join("\n"),
      );
      t.deepEqual(withoutLosses(comparable(records)), withoutLosses(calm));
      for (const { cell, attempt, sandbox } of records) {
        const rightly = cell === VICTIM ? fault.victim : NOTHING;
        t.deepEqual(
          { attempt, losses: losses(sandbox) },
          { attempt: rightly.attempt, losses: rightly.losses },
          cell,
        );
      }
      t.is(onceEach(gate.executions()), CALM_EXECUTIONS + fault.victim.again);
      t.deepEqual(ran.destroyed, []);
      t.deepEqual(await left(), []);
    });
  }
}

type Records = ReturnType<typeof comparable>;

/** What of a sandbox's losses depends on neither names nor moments. */
function losses({ losses }: RunRecord["sandbox"]) {
  return losses.map(({ purpose, cause }) => `${purpose} ${cause}`);
}

/** They are compared with what the fault must have, one by one. */
function withoutLosses(records: Records) {
  return records.map(({ sandbox, ...rest }) => ({ ...rest, left: sandbox.left }));
}

/** How many there were. Throws when one ran a second time in the same sandbox. */
function onceEach(executions: readonly Execution[]): number {
  const all = executions.map(({ sandbox, what }) => `${what} in ${sandbox}`);
  const twice = all.filter((one, i) => all.indexOf(one) !== i);
  if (twice.length > 0) throw new Error(`ran twice: ${twice.join(", ")}`);
  return all.length;
}
