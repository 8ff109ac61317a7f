import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { execa } from "execa";
import type { Status } from "../../k8s/testcluster/status.ts";
import { clusterCheck } from "../../scripts/stack/doctor/cluster.ts";
import { eventually } from "../sandbox/subject.ts";

const MAIN = fileURLToPath(new URL("../../k8s/testcluster/main.ts", import.meta.url));
const given = process.env.BENCH_TEST_KUBECONFIG;
/** A second cluster beside the one that the other tests use, which they must not lose. */
const folder = await mkdtemp(join(tmpdir(), "testcluster-test-"));
const onOwn = given ? test.serial.skip : test.serial;

function testcluster(...args: string[]) {
  return execa(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...args], {
    env: { BENCH_TESTCLUSTER: join(folder, "state") },
    reject: false,
  });
}

async function status(): Promise<Status> {
  return JSON.parse((await testcluster("status", "--json")).stdout ?? "") as Status;
}

async function succeeds(...args: string[]): Promise<string> {
  const { failed, stdout, stderr } = await testcluster(...args);
  if (failed) throw new Error(`testcluster ${args.join(" ")}: ${stderr}`);
  return stdout ?? "";
}

/** All that a cluster could leave on this machine; a process is in one of the groups. */
async function machine(): Promise<Record<string, string[]>> {
  const lines = async (command: string, ...args: string[]) => (await execa(command, args)).stdout.split("\n");
  const about = (all: string[], pattern: RegExp) => all.filter((line) => pattern.test(line));
  const sysctls = ["vm.overcommit_memory", "kernel.panic", "kernel.panic_on_oops", "net.ipv4.ip_forward"];
  return {
    groups: about(await readdir("/sys/fs/cgroup", { recursive: true }), /setup-bench-tc-/),
    mounts: about((await readFile("/proc/self/mounts", "utf8")).split("\n"), /testcluster/),
    interfaces: about(await lines("ip", "-oneline", "link"), / tc-/),
    rules: about(await lines("iptables-save"), /setup-bench/),
    tables: about(await lines("nft", "list", "tables"), /kube|policies|api-cut|outside/),
    sysctls: await lines("sysctl", ...sysctls),
  };
}

const before = given ? {} : await machine();

test.after.always(async () => {
  if (!given) await testcluster("down", "--wipe");
  await rm(folder, { recursive: true, force: true });
});

onOwn("who brings it up at once shares one cluster, whose path is what is printed", async (t) => {
  t.is((await status()).state, "stopped");
  const [first, second] = await Promise.all([succeeds("up"), succeeds("up")]);
  t.is(first, join(folder, "state", "kubeconfig"));
  t.is(second, first);
  t.like(await status(), { state: "running", node: "Ready", kubeconfig: first });
  process.env.KUBECONFIG = first;
  t.like(await clusterCheck(), { state: "ok", found: `${(await status()).server} answers (v1.34.4)` });
});

onOwn("whatever of it was killed, up brings it back with its objects", async (t) => {
  await succeeds("kubectl", "create", "configmap", "kept");
  const names = Object.keys((await status()).processes);
  for (const name of names) {
    const { processes } = await status();
    process.kill(processes[name] ?? 0, "SIGKILL");
    await eventually(async () => (await status()).processes[name] === null);
    t.not((await status()).state, "running", name);
    await succeeds("up");
    t.like(await status(), { state: "running", node: "Ready" }, name);
  }
  t.is(await succeeds("kubectl", "get", "configmap", "kept", "--output", "name"), "configmap/kept");
});

onOwn("a component restarted has another process, and works", async (t) => {
  for (const name of ["kube-apiserver", "kubelet", "containerd"]) {
    const old = (await status()).processes[name];
    await succeeds("restart", name === "kube-apiserver" ? "apiserver" : name);
    const now = await status();
    t.not(now.processes[name], old);
    t.is(now.state, "running");
  }
  t.is((await testcluster("restart", "nothing")).exitCode, 2);
});

onOwn("the way to the API server is cut for so long and opens by itself", async (t) => {
  const asks = async () => !(await testcluster("kubectl", "get", "nodes", "--request-timeout=1s")).failed;
  t.true(await asks());
  await succeeds("cut-api", "8");
  t.false(await asks());
  t.true(await eventually(asks, 60));
});

onOwn("down leaves nothing of it on this machine, and says so", async (t) => {
  await succeeds("down");
  t.like(await status(), { state: "stopped", kubeconfig: null });
  t.deepEqual(await machine(), before);
  await succeeds("down");
  t.is((await testcluster("kubectl", "get", "nodes")).exitCode, 2);
});
