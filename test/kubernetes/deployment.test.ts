import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuthorizationV1Api, RbacAuthorizationV1Api, type V1Pod } from "@kubernetes/client-node";
import test from "ava";
import { isFault } from "../../activities/sandbox/kubernetes/api-error.ts";
import { type Cluster, connectCluster } from "../../activities/sandbox/kubernetes/client.ts";
import { ANNOTATIONS, LABELS } from "../../activities/sandbox/kubernetes/names.ts";
import { eventually, probe, specOf } from "../sandbox/subject.ts";
import { askedWith } from "../support/asked.ts";
import { install, NEEDED } from "../support/chart.ts";
import { testNamespace } from "../support/cluster.ts";
import { accountConfig } from "../support/worker-account.ts";
import { ESCAPES, FORBIDDEN, GROUPS, plainPod } from "./escapes.ts";

const found = await testNamespace();

if (found === null) test.skip("the chart's installation needs a cluster", () => {});
else {
  const cluster = found;
  const release = { name: "setup-bench", namespace: cluster.namespace };
  const sandboxes = `${cluster.namespace}-sandboxes`;
  const account = { name: "setup-bench-sandboxes", namespace: cluster.namespace };
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-chart-"));
  const workerConfig = join(folder, "kubeconfig");
  const image = (await cluster.base()).location;
  // No node can pull the workers' image here: their manifests are the API server's to judge, their pods are not made.
  const none = { replicas: 0 };
  const values = {
    ...NEEDED,
    workers: { general: none, sandboxes: none },
    sandboxes: { network: { egress: "list", dns: [] } },
    selfTest: { image },
  };
  const installed = await install(cluster.kubeconfig, release, values);
  const { token } = await accountConfig(cluster.cluster, cluster.kubeconfig, account, workerConfig);
  const admin = connectCluster({ kubeconfig: cluster.kubeconfig, context: null, namespace: sandboxes });
  const worker = connectCluster({ kubeconfig: workerConfig, context: null, namespace: sandboxes });

  test.after.always(async () => {
    await installed.remove();
    for (const each of [admin, worker]) await each.close();
    await cluster.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test.serial(
    "the worker's account can do what the driver does, and the driver does all that it can",
    async (t) => {
      const driver = cluster.driver({ kubeconfig: workerConfig, namespace: sandboxes, image, warm: 1 });
      const asked = await askedWith(token, async () => {
        const spec = await specOf({ base: cluster.base }, { network: "on" });
        const sandbox = probe(driver, await driver.create(spec));
        t.is(await sandbox.say("id -u"), "0");
        await driver.network(sandbox.ref, "off");
        await eventually(() => waitsReady(admin), 120);
        const claimed = await driver.create(await specOf({ base: cluster.base }));
        t.is((await driver.list()).length, 2);
        for (const ref of [sandbox.ref, claimed]) await driver.destroy(ref);
        await driver.release(spec.owner.sweep);
        t.false((await driver.sweeps()).includes(spec.owner.sweep));
        await refusedForRoom(t);
      });
      const rules = await granted(admin);
      const unused = [...rules].filter((rule) => !asked.has(rule));
      t.deepEqual(
        [...asked].filter((call) => !rules.has(call)),
        [],
        "calls that no rule grants",
      );
      // Newer API servers ask for it besides `get`.
      t.deepEqual(unused, ["pods/exec create"], "rules that no call needs");
    },
  );

  /** A pod that no node takes: its events say why. */
  async function refusedForRoom(t: {
    throwsAsync: (promise: Promise<unknown>, expected: { message: RegExp }) => Promise<unknown>;
  }) {
    const template = { spec: { nodeSelector: { "setup-bench/no-such-node": "true" } } };
    const driver = cluster.driver({
      kubeconfig: workerConfig,
      namespace: sandboxes,
      image,
      template,
      capacitySeconds: 5,
    });
    await t.throwsAsync(driver.create(await specOf({ base: cluster.base })), {
      message: /does not start: Unschedulable/,
    });
  }

  test.serial("the worker's account reads no Secret and touches nothing else of the cluster", async (t) => {
    const secret = { metadata: { name: "a-key" }, stringData: { key: "s3cret" } };
    await cluster.cluster.core("create secret", (api) =>
      api.createNamespacedSecret({ namespace: cluster.namespace, body: secret }),
    );
    for (const namespace of [cluster.namespace, sandboxes]) {
      const read = worker.core("read secrets", (api) => api.listNamespacedSecret({ namespace }));
      await t.throwsAsync(read, { message: /secrets is forbidden/ });
    }
    const review = cluster.cluster.config().makeApiClient(AuthorizationV1Api);
    for (const [verb, resource, namespace] of FORBIDDEN(cluster.namespace, sandboxes)) {
      const [name, subresource] = resource.split("/");
      const { status } = await review.createSubjectAccessReview({
        body: {
          spec: {
            user: `system:serviceaccount:${account.namespace}:${account.name}`,
            groups: [
              "system:serviceaccounts",
              `system:serviceaccounts:${account.namespace}`,
              "system:authenticated",
            ],
            resourceAttributes: {
              verb,
              group: GROUPS[name ?? ""] ?? "",
              resource: name ?? "",
              ...(subresource ? { subresource } : {}),
              ...(namespace ? { namespace } : {}),
            },
          },
        },
      });
      t.false(status?.allowed, `${verb} ${resource} in ${namespace ?? "the cluster"}`);
    }
  });

  test.serial("the sandboxes' namespace takes no pod but a sandbox", async (t) => {
    const create = (pod: V1Pod) =>
      worker.core("create pod", (api) =>
        api.createNamespacedPod({ namespace: sandboxes, body: pod, dryRun: "All" }),
      );
    await t.notThrowsAsync(create(plainPod(image)));
    for (const [change, said] of ESCAPES) {
      const pod = plainPod(image);
      change(pod);
      const error = await t.throwsAsync(create(pod), { message: said });
      t.true(isFault(error, "invalid", "forbidden"), said.source);
    }
  });

  test.serial(
    "helm's test passes where the policies hold, and fails where they let too much pass",
    async (t) => {
      const said = () =>
        admin.core("read log", (api) =>
          api.readNamespacedPodLog({ namespace: sandboxes, name: "setup-bench-self-test" }),
        );
      t.true(await installed.test(), await said());
      t.regex(await said(), /^self-test: out of reach: \S+:443, 169\.254\.169\.254:80/m);
      const network = { egress: "list", dns: [], allow: [{ cidr: "0.0.0.0/0" }] };
      t.false(await installed.test({ sandboxes: { network }, selfTest: { image, patience: 5 } }));
      t.regex(await said(), /^self-test: \S+:443 can be reached$/m);
    },
  );
}

/** A pod that was made ahead of need, as the next sandbox takes it. */
async function waitsReady({ core, namespace }: Cluster): Promise<boolean> {
  const labelSelector = `${LABELS.role}=warm`;
  const { items } = await core("list pods", (api) => api.listNamespacedPod({ namespace, labelSelector }));
  return items.some(({ metadata }) => metadata?.annotations?.[ANNOTATIONS.inside] !== undefined);
}

async function granted(cluster: Cluster): Promise<Set<string>> {
  const rbac = cluster.config().makeApiClient(RbacAuthorizationV1Api);
  const { items } = await rbac.listNamespacedRole({ namespace: cluster.namespace });
  const rules = items.flatMap((role) => role.rules ?? []);
  return new Set(
    rules.flatMap(({ resources = [], verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`)),
    ),
  );
}
