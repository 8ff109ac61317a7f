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

  test.serial("a PID 1 killed for memory is an OOM-killed sandbox", async (t) => {
    await withPod({ limits: { memoryBytes: 256 << 20 } }, async (sandbox) => {
      // The kernel is told to take PID 1 first; none of the others is large by itself.
      const hog =
        "echo 1000 > /proc/1/oom_score_adj; echo 0 > /proc/self/oom_score_adj; for i in 1 2 3 4 5 6 7 8; do " +
        "(head -c 60M /dev/zero | tail > /dev/null; sleep 5) & done; wait";
      await execInPod(cluster, sandbox.pod, ["bash", "-c", hog], null).catch(() => {});
      t.is((await causeOf(sandbox)).failure, "sandbox_oom");
    });
  });

  test.serial("a sandbox over its disk limit is told from others", async (t) => {
    await withPod({ limits: { diskBytes: 64 << 20 } }, async (sandbox) => {
      const write = sandbox.run("head -c 600M /dev/zero > /root/big; sleep 100", { seconds: 110 });
      await t.throwsAsync(write, { instanceOf: CausedError });
      t.is((await causeOf(sandbox)).failure, "sandbox_disk");
    });
  });

  test.serial("a pod that the kubelet evicts for its disk is told from others", async (t) => {
    await withPod(
      { limits: { diskBytes: 300 << 20 } },
      async (sandbox) => {
        // Beside the sandbox, where PID 1 does not look.
        const fill = ["sh", "-c", "head -c 700M /dev/zero > /.bench/mounts/fill"];
        await execInPod(cluster, sandbox.pod, fill, null);
        const error = await causeOf(sandbox, 150);
        t.is(error.failure, "sandbox_disk", error.message);
        t.regex(error.message, /exceeds/);
      },
      subject.driver({ userNamespaces: "off" }),
    );
  });

  test.serial("a preempted pod is told from others", async (t) => {
    const names = ["low", "high"].map((name) => `${namespace}-${name}`);
    for (const [i, name] of names.entries()) {
      const body = { metadata: { name }, value: i - 10, globalDefault: false };
      await cluster.api(SchedulingV1Api, "make a priority", (api) => api.createPriorityClass({ body }));
    }
    const [low = "", high = ""] = names;
    const lowly = subject.driver({ userNamespaces: "off", template: { spec: { priorityClassName: low } } });
    try {
      await withPod(
        {},
        async (sandbox) => {
          // What can't run beside the sandbox and matters more, whatever room there is.
          const labelSelector = { matchLabels: { "setup-bench/role": "sandbox" } };
          const term = { labelSelector, topologyKey: "kubernetes.io/hostname" };
          const body = {
            metadata: { name: "preemptor" },
            spec: {
              priorityClassName: high,
              terminationGracePeriodSeconds: 0,
              affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
              containers: [{ name: "c", image: (await subject.base()).location, command: ["sleep", "300"] }],
            },
          };
          await cluster.core("create", (api) => api.createNamespacedPod({ namespace, body }));
          t.is((await causeOf(sandbox)).failure, "sandbox_preempted");
        },
        lowly,
      );
    } finally {
      for (const name of names)
        await cluster.api(SchedulingV1Api, "remove", (api) => api.deletePriorityClass({ name }));
    }
  });
});
