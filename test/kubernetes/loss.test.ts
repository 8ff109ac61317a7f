import { SchedulingV1Api } from "@kubernetes/client-node";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { execInPod } from "../../activities/sandbox/kubernetes/exec.ts";
import { podName } from "../../activities/sandbox/kubernetes/names.ts";
import type { Overrides, Probe } from "../sandbox/subject.ts";
import { eventually, probe } from "../sandbox/subject.ts";
import { onCluster } from "../support/cluster.ts";

await onCluster("loss", (subject) => {
  const { namespace, cluster } = subject;
  const driver = subject.driver({ userNamespaces: "off" });

  async function withPod(
    overrides: Overrides,
    use: (sandbox: Probe & { pod: string }) => Promise<void>,
    by = driver,
  ): Promise<void> {
    const spec = await subject.spec(overrides);
    const ref = await by.create(spec);
    try {
      await use({ ...probe(by, ref), pod: podName(namespace, spec.id) });
    } finally {
      await by.destroy(ref);
    }
  }

  /** What the driver says of a command of a sandbox that is being lost. */
  async function causeOf(sandbox: Probe, seconds = 90): Promise<CausedError> {
    return eventually(
      () =>
        sandbox.run("true").then(
          () => null,
          (error: unknown) => {
            if (error instanceof CausedError) return error;
            throw error;
          },
        ),
      seconds,
    );
  }

  test.serial(
    "a pod deleted by somebody is a lost sandbox, for who made it and for another worker",
    async (t) => {
      await withPod({}, async (sandbox) => {
        const { pod, ref } = sandbox;
        await cluster.core("delete", (api) =>
          api.deleteNamespacedPod({ namespace, name: pod, gracePeriodSeconds: 1 }),
        );
        const error = await causeOf(sandbox);
        t.is(error.failure, "sandbox_lost");
        t.regex(error.message, /deleted/);
        const other = await causeOf(probe(subject.driver(), ref));
        t.is(other.failure, "sandbox_lost");
      });
    },
  );

  test.serial("a pod that was replaced by another of its name is a lost sandbox", async (t) => {
    await withPod({}, async (sandbox) => {
      const { pod } = sandbox;
      const old = await cluster.core("read", (api) => api.readNamespacedPod({ namespace, name: pod }));
      await cluster.core("delete", (api) =>
        api.deleteNamespacedPod({ namespace, name: pod, gracePeriodSeconds: 0 }),
      );
      const { labels = {}, annotations = {} } = old.metadata ?? {};
      const body = {
        metadata: { name: pod, labels, annotations },
        spec: { ...old.spec, containers: old.spec?.containers ?? [] },
      };
      delete body.spec.nodeName;
      await eventually(() =>
        cluster
          .core("create", (api) => api.createNamespacedPod({ namespace, body }))
          .then(
            () => true,
            () => false,
          ),
      );
      t.is((await causeOf(sandbox)).failure, "sandbox_lost");
    });
  });

  test.serial("a killed PID 1 is a lost sandbox, and its container's word is in the message", async (t) => {
    await withPod({}, async (sandbox) => {
      await execInPod(cluster, sandbox.pod, ["sh", "-c", "kill -TERM 1"], null).catch(() => {});
      const error = await causeOf(sandbox);
      t.is(error.failure, "sandbox_lost");
      t.regex(error.message, /has ended/);
    });
  });

  test.serial("a PID 1 killed for memory is an OOM-killed sandbox", async (t) => {
    await withPod({ limits: { memoryBytes: 256 << 20 } }, async (sandbox) => {
      // As if the payload had grown while nothing else was large enough to be chosen.
      const hog =
        "echo 1000 > /proc/1/oom_score_adj; echo 0 > /proc/self/oom_score_adj; head -c 2G /dev/zero | tail";
      await execInPod(cluster, sandbox.pod, ["bash", "-c", hog], null).catch(() => {});
      t.is((await causeOf(sandbox)).failure, "sandbox_oom");
    });
  });

  test.serial("a sandbox over its disk limit is evicted, and told from others", async (t) => {
    await withPod({ limits: { diskBytes: 64 << 20 } }, async (sandbox) => {
      await sandbox.run("head -c 600M /dev/urandom > /root/big; sleep 100", { seconds: 110 }).catch(() => {});
      const error = await causeOf(sandbox, 120);
      t.is(error.failure, "sandbox_disk");
      t.regex(error.message, /exceeds/);
    });
  });

  test.serial("a preempted pod is told from others", async (t) => {
    const names = ["low", "high"].map((name) => `${namespace}-${name}`);
    for (const [i, name] of names.entries()) {
      const body = { metadata: { name }, value: i - 10, globalDefault: false };
      await cluster.api(SchedulingV1Api, "make a priority", (api) => api.createPriorityClass({ body }));
    }
    const [low = "", high = ""] = names;
    const [node] = (await cluster.core("list nodes", (api) => api.listNode())).items;
    const pods = (await cluster.core("list pods", (api) => api.listPodForAllNamespaces())).items;
    const used = pods
      .filter(({ status }) => status?.phase === "Running")
      .reduce((sum, { spec }) => sum + cores(spec?.containers[0]?.resources?.requests?.cpu), 0);
    const free = cores(node?.status?.allocatable?.cpu) - used;
    const lowly = subject.driver({
      userNamespaces: "off",
      headroom: 1,
      template: { spec: { priorityClassName: low } },
    });
    const cpus = free * 0.7;
    try {
      await withPod(
        { limits: { cpus } },
        async (sandbox) => {
          const above = subject.driver({
            userNamespaces: "off",
            headroom: 1,
            template: { spec: { priorityClassName: high } },
          });
          const ref = await above.create(await subject.spec({ limits: { cpus } }));
          t.is((await causeOf(sandbox)).failure, "sandbox_preempted");
          await above.destroy(ref);
        },
        lowly,
      );
    } finally {
      for (const name of names)
        await cluster.api(SchedulingV1Api, "remove", (api) => api.deletePriorityClass({ name }));
    }
  });
});

function cores(quantity = "0"): number {
  return quantity.endsWith("m") ? Number.parseInt(quantity, 10) / 1000 : Number(quantity);
}
