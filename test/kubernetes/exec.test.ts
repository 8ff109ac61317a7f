import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { parse, stringify } from "yaml";
import { frameInput, parseAnswer } from "../../activities/sandbox/contained/frame.ts";
import { call } from "../../activities/sandbox/contained/layout.ts";
import { type Cluster, connectCluster } from "../../activities/sandbox/kubernetes/client.ts";
import { ExecFault, execInPod } from "../../activities/sandbox/kubernetes/exec.ts";
import { podName } from "../../activities/sandbox/kubernetes/names.ts";
import { eventually } from "../sandbox/subject.ts";
import { temporaryFolder } from "../support/base.ts";
import { onCluster } from "../support/cluster.ts";
import { type CutProxy, cutProxy } from "../support/cut-proxy.ts";

const LIMITS = { silence: 3_000, handshake: 3_000, outputBytes: 64 << 20 };

await onCluster("exec", (subject) => {
  let pod = "";
  let proxy: CutProxy;
  /** The same cluster, by a way that can be cut. */
  let cuttable: Cluster;

  test.before(async () => {
    const driver = subject.driver();
    await driver.create(await subject.spec({ id: "exec" }));
    pod = podName(subject.namespace, "exec");
    const config = parse(await readFile(subject.kubeconfig, "utf8"));
    const { hostname, port } = new URL(config.clusters[0].cluster.server);
    proxy = await cutProxy(hostname, Number(port));
    config.clusters[0].cluster.server = `https://127.0.0.1:${proxy.port}`;
    config.clusters[0].cluster["tls-server-name"] = hostname;
    const kubeconfig = join(await temporaryFolder(), "kubeconfig");
    await writeFile(kubeconfig, stringify(config));
    cuttable = connectCluster({ kubeconfig, context: null, namespace: subject.namespace, patienceMs: 5_000 });
  });

  test.after.always(async () => {
    await cuttable?.close();
    await proxy?.close();
  });

  const run = (script: string, input: Uint8Array | null = null, cluster = subject.cluster) =>
    execInPod(cluster, pod, ["bash", "-c", script], input, LIMITS);

  test.serial("exit code, output and error output of a call come through", async (t) => {
    const { exit, stdout, stderr } = await run("echo out; echo err >&2; exit 7");
    t.deepEqual([exit, stdout.toString(), stderr], [7, "out\n", "err\n"]);
    t.is((await run("true")).exit, 0);
    t.is((await run("kill -9 $$")).exit, 137);
  });

  test.serial("40 MB go in and come out whole, without an end of input", async (t) => {
    const content = randomBytes(40_000_000);
    const { stdout } = await run(`head -c ${content.length} | tee >(sha256sum >&2)`, content);
    t.is(stdout.length, content.length);
    t.true(content.equals(stdout));
    const digest = createHash("sha256").update(content).digest("hex");
    t.is(
      (await run(`head -c ${content.length} | sha256sum`, content)).stdout.toString().slice(0, 64),
      digest,
    );
  });

  test.serial("a call that takes none of its input answers and ends all the same", async (t) => {
    const input = frameInput(randomBytes(20_000_000));
    for (let round = 0; round < 3; round++) {
      const result = await execInPod(subject.cluster, pod, call("upload", ".none"), input, LIMITS);
      t.is(parseAnswer(result).status, "refused");
    }
  });

  test.serial("a missing program and a missing pod are faults that say so", async (t) => {
    const absent = await t.throwsAsync(execInPod(subject.cluster, "bench-sb-none", ["true"], null), {
      instanceOf: ExecFault,
    });
    t.is(absent?.status, 404);
    await t.throwsAsync(execInPod(subject.cluster, pod, ["/no/such/program"], null), {
      instanceOf: ExecFault,
      message: /no such/,
    });
  });

  test.serial("an answer over the limit is refused instead of being kept in memory", async (t) => {
    const limits = { ...LIMITS, outputBytes: 1 << 20 };
    await t.throwsAsync(
      execInPod(subject.cluster, pod, ["head", "-c", "9000000", "/dev/zero"], null, limits),
      {
        instanceOf: ExecFault,
      },
    );
  });

  test.serial("a call whose connection falls silent or is reset ends with a fault", async (t) => {
    const silent = run("echo begun; sleep 30", null, cuttable);
    await eventually(async () => proxy.open() > 0);
    proxy.silence();
    await t.throwsAsync(silent, { instanceOf: ExecFault, message: /silence|closed/ });
    proxy.restore();
    const reset = run("sleep 30", null, cuttable);
    await eventually(async () => proxy.open() > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    proxy.reset();
    await t.throwsAsync(reset, { instanceOf: ExecFault });
    t.is((await run("echo back", null, cuttable)).stdout.toString(), "back\n");
  });

  test.serial(
    "a server that is away for a while is waited for, and for no longer than allowed",
    async (t) => {
      const { namespace } = subject;
      const list = () => cuttable.core("list pods", (api) => api.listNamespacedPod({ namespace }));
      t.true((await list()).items.length > 0);
      const before = proxy.port;
      await proxy.close();
      await t.throwsAsync(list(), { message: /can't be reached/ });
      proxy = await cutProxy(
        new URL(subject.cluster.server).hostname,
        Number(new URL(subject.cluster.server).port),
        before,
      );
      t.true((await list()).items.length > 0);
    },
  );

  test.serial("many calls leave no sockets behind and share those of plain calls", async (t) => {
    const { namespace } = subject;
    const before = proxy.made();
    for (let i = 0; i < 20; i++) await run("true", null, cuttable);
    await Promise.all(
      Array.from({ length: 100 }, () =>
        cuttable.core("list pods", (api) => api.listNamespacedPod({ namespace })),
      ),
    );
    t.true(proxy.made() - before <= 20 + 24, `${proxy.made() - before} connections`);
    await eventually(async () => proxy.open() <= 24);
  });
});
