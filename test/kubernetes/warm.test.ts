import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { eventually, probe } from "../sandbox/subject.ts";
import { onCluster } from "../support/cluster.ts";

await onCluster("warm pool", (subject) => {
  const { namespace, cluster } = subject;
  const pods = async (role: string) => {
    const labelSelector = `setup-bench/role=${role}`;
    const list = () => cluster.core("list", (api) => api.listNamespacedPod({ namespace, labelSelector }));
    return (await list()).items.filter(({ metadata }) => !metadata?.deletionTimestamp);
  };
  const ready = async (count: number) => {
    const waiting = (await pods("warm")).filter(
      ({ metadata }) => metadata?.annotations?.["setup-bench/inside"],
    );
    return waiting.length === count && waiting.map(({ metadata }) => metadata?.uid ?? "");
  };

  test.serial(
    "sandboxes claim pods that wait ready, mounts included, and the pool is filled up again",
    async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "warm-"));
      await writeFile(join(folder, "given"), "from the host");
      const mounts = [{ source: folder, target: "/opt/given" }];
      const driver = subject.driver({ warm: 2 });
      const first = await driver.create(await subject.spec({ mounts }));
      const waiting = await eventually(() => ready(2), 120);
      const second = await driver.create(await subject.spec({ mounts, owner: ownerOf("other") }));
      const [claimed] = (await pods("sandbox")).filter(({ metadata }) =>
        waiting.includes(metadata?.uid ?? ""),
      );
      t.like(claimed?.metadata?.labels, { "setup-bench/run": "other", "setup-bench/sweep": "contract" });
      t.is(await probe(driver, second).say("cat /opt/given/given"), "from the host");
      await eventually(() => ready(2), 120);
      t.deepEqual(
        (await driver.list()).map(({ sandbox }) => sandbox.id).sort(),
        [first.id, second.id].sort(),
      );
      const other = subject.driver({ warm: 2 });
      t.is(await probe(other, second).say("echo found"), "found");
      for (const ref of [first, second]) await other.destroy(ref);
      t.is((await pods("sandbox")).length, 0);
      await driver.release("contract");
      await eventually(async () => (await pods("warm")).length === 0, 60);
    },
  );

  test.serial("a waiting pod is claimed by one sandbox only, and workers agree on whose it is", async (t) => {
    const drivers = [1, 2].map(() => subject.driver({ warm: 1 }));
    const [one, two] = drivers;
    if (!one || !two) throw new Error("no drivers");
    await one.destroy(await one.create(await subject.spec()));
    await eventually(() => ready(1), 120);
    // The second's watch must know of the waiting pod as well.
    await two.list();
    const [same, ...others] = await Promise.all([subject.spec(), subject.spec(), subject.spec()]);
    const all = await Promise.all([
      one.create(same),
      two.create(same),
      ...others.map((spec, i) => (i === 0 ? one : two).create(spec)),
    ]);
    t.deepEqual(all[0], all[1]);
    for (const ref of all) await probe(one, ref).say(`echo ${ref.id} >> /root/ids`);
    for (const ref of all.slice(2)) t.is(await probe(two, ref).say("cat /root/ids"), ref.id);
    t.is((await pods("sandbox")).length, 3);
    for (const ref of all.slice(1)) await two.destroy(ref);
    await one.release("contract");
  });

  test.serial("waiting pods make way when the quota is full", async (t) => {
    const driver = subject.driver({ warm: 2 });
    const kept = await driver.create(await subject.spec());
    await eventually(() => ready(2), 120);
    const body = { metadata: { name: "full" }, spec: { hard: { pods: "3" } } };
    await cluster.core("make a quota", (api) => api.createNamespacedResourceQuota({ namespace, body }));
    // Of another shape, so that no waiting pod fits.
    const other = await driver.create(await subject.spec({ limits: { memoryBytes: 300 << 20 } }));
    t.is(await probe(driver, other).say("echo ran"), "ran");
    for (const ref of [kept, other]) await driver.destroy(ref);
    await driver.release("contract");
    const name = "full";
    await cluster.core("remove the quota", (api) => api.deleteNamespacedResourceQuota({ namespace, name }));
  });
});

function ownerOf(run: string) {
  return { server: "none", sweep: "contract", run, attempt: 1, workflow: "contract/run" };
}
