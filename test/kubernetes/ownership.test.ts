import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { podName } from "../../activities/sandbox/kubernetes/names.ts";
import { parseTemplate } from "../../activities/sandbox/kubernetes/pod-template.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { eventually, probe } from "../sandbox/subject.ts";
import { onCluster } from "../support/cluster.ts";

await onCluster("ownership", (subject) => {
  const { namespace, cluster } = subject;
  const names = async () =>
    (await cluster.core("list", (api) => api.listNamespacedPod({ namespace }))).items.map(
      ({ metadata }) => metadata?.name,
    );

  test.serial("another worker finds a sandbox by its id alone, and takes its command over", async (t) => {
    const [first, second] = [subject.driver(), subject.driver()];
    const spec = await subject.spec();
    const ref = await first.create(spec);
    const id = await probe(first, ref).start("sleep 2; echo $$ > /root/pid; echo done");
    await first.close();
    t.deepEqual(await second.create(spec), ref);
    const again = await probe(second, ref).run("echo twice >> /root/pid; false", { id });
    t.like(again.ended, { end: "exited", exit: 0 });
    t.is(again.stdout, "done\n");
    await second.destroy(ref);
  });

  test.serial("who creates the same sandbox at once from several workers gets one pod", async (t) => {
    const drivers = [1, 2, 3].map(() => subject.driver());
    const spec = await subject.spec();
    const refs = await Promise.all(drivers.map((driver) => driver.create(spec)));
    t.deepEqual(refs, Array(3).fill(refs[0]));
    t.is((await names()).filter((name) => name === podName(namespace, spec.id)).length, 1);
    for (const driver of drivers) if (refs[0]) await driver.destroy(refs[0]);
  });

  test.serial("deleting a sweep's owner object deletes its pods and no other sweep's", async (t) => {
    const driver = subject.driver();
    const owner = { server: "s", run: "r", attempt: 1, workflow: "w" };
    const [mine, other] = await Promise.all(
      ["sweep ü/1", "sweep-2"].map(async (sweep) =>
        driver.create(await subject.spec({ owner: { ...owner, sweep } })),
      ),
    );
    if (!mine || !other) throw new Error("no sandboxes");
    const sweeps = await driver.sweeps();
    t.deepEqual([sweeps.includes("sweep ü/1"), sweeps.includes("sweep-2")], [true, true]);
    await driver.release("sweep ü/1");
    await eventually(async () => !(await names()).includes(podName(namespace, mine.id)), 60);
    t.is(await probe(driver, other).say("echo alive"), "alive");
    await driver.destroy(other);
    await driver.release("sweep-2");
    await driver.release("sweep-2");
  });

  test.serial("a stranger's pod of the same name is neither adopted nor deleted", async (t) => {
    const driver = subject.driver();
    const spec = await subject.spec();
    const name = podName(namespace, spec.id);
    const containers = [{ name: "c", image: spec.base.location, command: ["sleep", "1000"] }];
    const body = { metadata: { name }, spec: { containers, terminationGracePeriodSeconds: 0 } };
    await cluster.core("create", (api) => api.createNamespacedPod({ namespace, body }));
    await t.throwsAsync(driver.create(spec), { message: /not of this installation/ });
    await t.throwsAsync(driver.destroy({ driver: "kubernetes", id: spec.id, host: "" }), {
      message: /not of this installation/,
    });
    t.true((await names()).includes(name));
    await cluster.core("delete", (api) => api.deleteNamespacedPod({ namespace, name }));
  });

  test.serial("two installations in one namespace do not see each other's sandboxes", async (t) => {
    const [one, two] = ["one", "two"].map((installation) => subject.driver({ installation }));
    if (!one || !two) throw new Error("no drivers");
    const spec = await subject.spec();
    const [first, second] = await Promise.all([one.create(spec), two.create(spec)]);
    await probe(one, first).say("echo one > /root/f");
    t.is((await probe(two, second).run("cat /root/f")).ended.exit, 1);
    t.is((await one.list()).length, 1);
    await one.destroy(first);
    t.is((await two.list()).length, 1);
    await two.destroy(second);
  });

  test.serial(
    "a template that the server refuses is an error of the user, before anything runs",
    async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "template-"));
      const path = join(folder, "pod.yaml");
      await writeFile(path, "spec: { priorityClassName: no-such-class }");
      const driver = subject.driver({
        template: parseTemplate("spec: { priorityClassName: no-such-class }", path),
      });
      const error = await t.throwsAsync(async () => driver.check(await subject.spec()), {
        instanceOf: UsageError,
      });
      t.regex(error?.message ?? "", /no-such-class/);
      const good = subject.driver({ template: parseTemplate("metadata: { labels: { team: a } }", path) });
      await t.notThrowsAsync(async () => good.check(await subject.spec()));
    },
  );
});
