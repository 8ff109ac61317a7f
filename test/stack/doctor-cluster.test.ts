import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { clusterCheck } from "../../scripts/stack/doctor/cluster.ts";
import { bindablePort } from "../../scripts/stack/port.ts";

const home = await mkdtemp(join(tmpdir(), "doctor-cluster-"));
process.env.HOME = home;
delete process.env.KUBECONFIG;
delete process.env.KUBERNETES_SERVICE_HOST;

test.after.always(() => rm(home, { recursive: true, force: true }));

test.serial("where no kubeconfig is there, nothing is wrong", async (t) => {
  const check = await clusterCheck();
  t.like(check, { name: "cluster", state: "ok", remedy: null });
  t.regex(check.found, /^none/);
});

test.serial("a cluster that can't be reached is a warning that names it", async (t) => {
  const port = await bindablePort("127.0.0.1", 0);
  const config = {
    clusters: [{ name: "c", cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  process.env.KUBECONFIG = join(home, "kubeconfig");
  await writeFile(process.env.KUBECONFIG, JSON.stringify(config));
  const check = await clusterCheck();
  t.is(check.state, "warning");
  t.true(check.found.startsWith(`https://127.0.0.1:${port} can't be used: `), check.found);
  t.false(check.found.includes("\n"));
});
