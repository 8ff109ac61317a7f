import { randomBytes } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import test from "ava";
import { pack } from "tar-stream";
import { bytes, probe } from "../sandbox/subject.ts";
import { onCluster } from "../support/cluster.ts";

await onCluster("stores", (subject) => {
  const { namespace, cluster } = subject;
  const stores = async () => {
    const labelSelector = "setup-bench/role=store";
    return (await cluster.core("list", (api) => api.listNamespacedPod({ namespace, labelSelector }))).items;
  };

  test.serial(
    "a source that several sandboxes of a node get comes from a store there, whole and unchanged",
    async (t) => {
      const driver = subject.driver();
      const content = randomBytes(12_000_000);
      const archive = pack();
      archive.entry({ name: "data" }, content);
      archive.finalize();
      const tar = await bytes(Readable.from(archive));
      const folder = await mkdtemp(join(tmpdir(), "stores-"));
      await writeFile(join(folder, "tool"), randomBytes(5_000_000));
      const mounts = [{ source: folder, target: "/opt/tool" }];
      const sums: string[] = [];
      for (let i = 0; i < 3; i++) {
        const ref = await driver.create(await subject.spec({ network: "on", mounts }));
        await driver.put(ref, "main", "/workspace/repo", Readable.from([tar]));
        sums.push(await probe(driver, ref).say("cat /workspace/repo/data /opt/tool/tool | sha256sum"));
        await driver.destroy(ref);
      }
      t.is(new Set(sums).size, 1);
      const [store, ...more] = await stores();
      t.is(more.length, 0);
      t.is(store?.status?.phase, "Running");
      await driver.release("contract");
    },
  );

  test.serial("where the store can't be reached, the file comes the direct way", async (t) => {
    const driver = subject.driver();
    const archive = pack();
    archive.entry({ name: "data" }, randomBytes(4_000_000));
    archive.finalize();
    const tar = await bytes(Readable.from(archive));
    for (let i = 0; i < 3; i++) {
      // Without network from its beginning, a sandbox reaches no store.
      const ref = await driver.create(await subject.spec({ network: "off" }));
      await driver.put(ref, "main", "/workspace/repo", Readable.from([tar]));
      t.is(await probe(driver, ref).say("wc -c < /workspace/repo/data"), "4000000");
      await driver.destroy(ref);
    }
    await driver.release("contract");
  });
});
