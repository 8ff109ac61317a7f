import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { podName } from "../../activities/sandbox/kubernetes/names.ts";
import { probe } from "../sandbox/subject.ts";
import { onCluster } from "../support/cluster.ts";

await onCluster("capacity", (subject) => {
  const { namespace, cluster } = subject;
  const said: string[] = [];
  const driver = () => subject.driver({ onWait: (message) => said.push(message), userNamespaces: "off" });

  test.serial("sandboxes beyond the quota wait for their turn, and none of them fails", async (t) => {
    const one = driver();
    // The probe needs a pod as well.
    await one.destroy(await one.create(await subject.spec()));
    const hard = { pods: "2" };
    const body = { metadata: { name: "few" }, spec: { hard } };
    await cluster.core("make a quota", (api) => api.createNamespacedResourceQuota({ namespace, body }));
    try {
      const done = await Promise.all(
        Array.from({ length: 7 }, async () => {
          const ref = await one.create(await subject.spec());
          try {
            return await probe(one, ref).say("echo ran");
          } finally {
            await one.destroy(ref);
          }
        }),
      );
      t.deepEqual(done, Array(7).fill("ran"));
      t.true(said.some((message) => /exceeded quota: few/.test(message)));
    } finally {
      const name = "few";
      await cluster.core("remove the quota", (api) => api.deleteNamespacedResourceQuota({ namespace, name }));
    }
  });

  test.serial("a quota that stays full is missing capacity after the time that it may take", async (t) => {
    const one = subject.driver({ userNamespaces: "off", capacitySeconds: 2 });
    const body = { metadata: { name: "none" }, spec: { hard: { pods: "0" } } };
    await cluster.core("make a quota", (api) => api.createNamespacedResourceQuota({ namespace, body }));
    try {
      const error = await t.throwsAsync(one.create(await subject.spec()), { instanceOf: CausedError });
      t.is(error?.failure, "capacity");
      t.regex(error?.message ?? "", /exceeded quota: none/);
    } finally {
      const name = "none";
      await cluster.core("remove the quota", (api) => api.deleteNamespacedResourceQuota({ namespace, name }));
    }
  });

  test.serial(
    "a pod too large for every node waits with the scheduler's reason, then is missing capacity",
    async (t) => {
      said.length = 0;
      const one = subject.driver({
        userNamespaces: "off",
        capacitySeconds: 15,
        onWait: (message) => said.push(message),
      });
      const spec = await subject.spec({ limits: { cpus: 4_000 } });
      const error = await t.throwsAsync(one.create(spec), { instanceOf: CausedError });
      t.is(error?.failure, "capacity");
      t.regex(error?.message ?? "", /Insufficient cpu/);
      t.true(said.some((message) => /is pending: Unschedulable: .*Insufficient cpu/.test(message)));
      await one.destroy({ driver: "kubernetes", id: spec.id, host: "" });
    },
  );

  test.serial("who gives up waiting for room stops at once", async (t) => {
    const one = subject.driver({ userNamespaces: "off", capacitySeconds: 300 });
    const spec = await subject.spec({ limits: { cpus: 4_000 } });
    const signal = AbortSignal.timeout(1_000);
    await t.throwsAsync(one.create(spec, signal), { name: "TimeoutError" });
    await one.destroy({ driver: "kubernetes", id: spec.id, host: "" });
    const { items } = await cluster.core("list pods", (api) => api.listNamespacedPod({ namespace }));
    t.false(items.some(({ metadata }) => metadata?.name === podName(namespace, spec.id)));
  });

  test.serial("an image that can't be pulled is a cause of its own, in the kubelet's words", async (t) => {
    const one = driver();
    const location = "localhost:1/no/such-image:1";
    const error = await t.throwsAsync(
      one.create(await subject.spec({ base: { digest: "none", location } })),
      {
        instanceOf: CausedError,
      },
    );
    t.is(error?.failure, "image_pull");
    t.regex(error?.message ?? "", /no\/such-image/);
    const invalid = await subject.spec({ base: { digest: "none", location: "UPPER/Case" } });
    t.is((await t.throwsAsync(one.create(invalid), { instanceOf: CausedError }))?.failure, "image_pull");
  });

  test.serial("requests are below limits, and both are noted", async (t) => {
    const one = subject.driver({ headroom: 2.5 });
    const spec = await subject.spec({ limits: { memoryBytes: 500_000_000, cpus: 0.25 } });
    const ref = await one.create(spec);
    try {
      const name = podName(namespace, spec.id);
      const pod = await cluster.core("read pod", (api) => api.readNamespacedPod({ namespace, name }));
      const { requests = {}, limits = {} } = pod.spec?.containers[0]?.resources ?? {};
      t.deepEqual([requests.memory, limits.memory], ["200M", "500M"]);
      t.deepEqual([requests.cpu, limits.cpu], ["100m", "250m"]);
      t.like(JSON.parse(pod.metadata?.annotations?.["setup-bench/resources"] ?? ""), {
        requests: { memoryBytes: 200_000_000, cpus: 0.1 },
        limits: { memoryBytes: 500_000_000, cpus: 0.25 },
      });
    } finally {
      await one.destroy(ref);
    }
  });
});
