import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import test from "ava";
import { extract, pack } from "tar-stream";
import { bytes, type Subject, withSandbox } from "./subject.ts";

async function tarOf(entries: { name: string; content: Buffer; mode?: number }[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, content, mode } of entries)
    archive.entry({ name, mode: mode ?? 0o644, uid: 1234, gid: 1234 }, content);
  archive.finalize();
  return bytes(Readable.from(archive));
}

async function entriesOf(stream: Readable): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for await (const entry of stream.pipe(extract())) {
    if (entry.header.type === "file")
      found.set(entry.header.name.replace(/^\.\//, ""), await bytes(entry as unknown as Readable));
    else entry.resume();
  }
  return found;
}

export function fileContract(subject: Subject): void {
  const { name } = subject;

  test.serial(`${name}: large binary files go in and out unchanged`, async (t) => {
    const content = randomBytes(40_000_000);
    await withSandbox(subject, {}, async ({ driver, ref, say }) => {
      const tar = await tarOf([
        { name: "deep/a b.bin", content },
        { name: "run.sh", content: Buffer.from("#!/bin/sh\necho ran\n"), mode: 0o755 },
      ]);
      await driver.put(ref, "main", "/new/folder with space", Readable.from([tar]));
      await say("rm -r /new");
      await driver.put(ref, "main", "/new/folder with space", Readable.from([tar]));
      t.is(await say("'/new/folder with space/run.sh'"), "ran");
      t.is(await say("stat -c %u:%g '/new/folder with space/run.sh'"), "0:0");
      const back = await entriesOf(await driver.get(ref, "main", "/new/folder with space"));
      t.true(back.get("deep/a b.bin")?.equals(content));
      t.deepEqual([...back.keys()].sort(), ["deep/a b.bin", "run.sh"]);
      const one = await entriesOf(await driver.get(ref, "main", "/new/folder with space/deep/a b.bin"));
      t.true(one.get("a b.bin")?.equals(content));
      t.true(
        (await driver.readFile(ref, "main", "/new/folder with space/deep/a b.bin", 1 << 30))?.equals(content),
      );
    });
  });

  test.serial(`${name}: a missing file is null, a missing tree and a broken tar are errors`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref }) => {
      t.is(await driver.readFile(ref, "main", "/no/such/file", 100), null);
      t.is(await driver.readFile(ref, "main", "/etc/passwd/below", 100), null);
      await t.throwsAsync(driver.get(ref, "main", "/no/such/tree"), { message: /no\/such\/tree/ });
      await t.throwsAsync(
        driver.put(ref, "main", "/x", Readable.from([Buffer.from("not a tar ".repeat(100))])),
      );
    });
  });

  test.serial(
    `${name}: readFile gives regular files within the limit and follows links inside the root only`,
    async (t) => {
      await withSandbox(subject, {}, async ({ driver, ref, say }) => {
        await say(
          "cd /root; echo inside > /etc/mark; ln -s ../../../../../../etc/mark up; ln -s /etc/mark down; mkfifo pipe",
        );
        await say(
          "cd /root; ln -s /proc/1/root/etc/hostname out; ln -s /proc/self/environ env; head -c 1000 /dev/zero > big; ln -s /dev/zero zero",
        );
        const read = (path: string, limit = 999) => driver.readFile(ref, "main", path, limit);
        t.is((await read("/root/up"))?.toString(), "inside\n");
        t.is((await read("/root/down"))?.toString(), "inside\n");
        await t.throwsAsync(read("/root/big"), { message: /1000 bytes/ });
        t.is((await read("/root/big", 1000))?.length, 1000);
        for (const path of [
          "/root/pipe",
          "/root/out",
          "/root/env",
          "/root/zero",
          "/root",
          "/proc/1/environ",
        ]) {
          await t.throwsAsync(read(path), undefined, path);
        }
      });
    },
  );

  test.serial(`${name}: a sparse file longer than the disk does not come out`, async (t) => {
    await withSandbox(subject, { limits: { diskBytes: 100 << 20 } }, async ({ driver, ref, say }) => {
      await say("truncate -s 50G /root/sparse");
      await t.throwsAsync(driver.get(ref, "main", "/root/sparse"), { message: /output/ });
      t.is(await say("echo usable"), "usable");
    });
  });

  test.serial(`${name}: permissions hold for users, and root passes them`, async (t) => {
    await withSandbox(subject, {}, async ({ run, say, driver, ref }) => {
      await say(
        "echo secret > /root/s; chmod 600 /root/s; echo shared > /srv/f; chown nobody /srv/f; chmod 400 /srv/f",
      );
      t.is((await run("su -s /bin/sh nobody -c 'cat /root/s'")).ended.exit, 1);
      t.is(await say("su -s /bin/sh nobody -c 'cat /srv/f'"), "shared");
      t.is((await driver.readFile(ref, "main", "/srv/f", 100))?.toString(), "shared\n");
      t.is(await say("touch /tmp/new; stat -c '%a %U' /tmp/new"), "644 root");
    });
  });
}
