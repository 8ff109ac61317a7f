import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { bytes, eventually, type Subject, withSandbox } from "./subject.ts";

export function commandContract(subject: Subject): void {
  const { name } = subject;

  test.serial(`${name}: exit codes and deaths by signal come through`, async (t) => {
    await withSandbox(subject, {}, async ({ run }) => {
      for (const code of [0, 1, 77, 255]) {
        const { ended } = await run(`exit ${code}`);
        t.like(ended, { end: "exited", exit: code });
      }
      t.like((await run("kill -TERM $$")).ended, { end: "exited", exit: 128 + 15 });
      t.like((await run("kill -SEGV $$")).ended, { end: "exited", exit: 128 + 11 });
      t.like((await run("no-such-command")).ended, { end: "exited", exit: 127 });
    });
  });

  test.serial(`${name}: a command has its folder, its environment and an empty standard input`, async (t) => {
    await withSandbox(subject, { environment: { A: "sandbox", B: "sandbox" } }, async ({ run }) => {
      const command = 'pwd; echo "$A $B"; wc -c';
      const { stdout } = await run(command, { cwd: "/usr/lib", environment: { B: "command ✓" } });
      t.is(stdout, "/usr/lib\nsandbox command ✓\n0\n");
      const missing = await run("true", { cwd: "/no/such/folder" });
      t.like(missing.ended, { end: "exited", exit: 126 });
      t.regex(missing.stderr, /\/no\/such\/folder/);
    });
  });

  test.serial(`${name}: unicode survives in commands, outputs and file names`, async (t) => {
    await withSandbox(subject, {}, async ({ run, driver, ref }) => {
      const word = "grüße-日本-🦀";
      const { stdout, id } = await run(`printf '%s' '${word}' | tee '/tmp/${word}'; ls /tmp`);
      t.is(stdout, `${word}${word}\n`);
      t.is((await driver.readFile(ref, "main", `/tmp/${word}`, 100))?.toString(), word);
      const cut = await driver.read(ref, id, "stdout", { head: 4, tail: 4 });
      t.is(cut.bytes, Buffer.byteLength(stdout));
      t.notRegex(cut.text, /\uFFFD/);
    });
  });

  test.serial(`${name}: 50 MB of standard input arrive whole`, async (t) => {
    const file = join(tmpdir(), `stdin-${randomBytes(4).toString("hex")}`);
    const content = randomBytes(50_000_000);
    await writeFile(file, content);
    try {
      await withSandbox(subject, {}, async ({ run, driver, ref }) => {
        const { ended, id } = await run("cat", { stdin: file, outputBytes: 60_000_000 });
        t.like(ended, { end: "exited", exit: 0, stdoutBytes: content.length });
        t.true(content.equals(await bytes(await driver.output(ref, id, "stdout"))));
      });
    } finally {
      await rm(file);
    }
  });

  test.serial(`${name}: a script longer than an argument may be runs`, async (t) => {
    await withSandbox(subject, {}, async ({ run }) => {
      const filler = `# ${"x".repeat(98)}\n`.repeat(5_000);
      t.is((await run(`${filler}echo done`)).stdout, "done\n");
    });
  });

  test.serial(`${name}: a second start of the same id runs nothing`, async (t) => {
    await withSandbox(subject, {}, async ({ run, start, say }) => {
      const id = await start("echo ran >> /root/log; sleep 0.3");
      await Promise.all([1, 2, 3].map(() => start("echo again >> /root/log", { id })));
      t.is((await run("never", { id })).ended.exit, 0);
      await start("echo late >> /root/log", { id });
      t.is(await say("cat /root/log"), "ran");
    });
  });

  test.serial(`${name}: a daemon left behind does not hold the call and lives on`, async (t) => {
    await withSandbox(subject, {}, async ({ run, say, driver, ref }) => {
      const { ended } = await run("(while :; do date +%s%N > /root/beat; sleep 0.05; done) & echo started");
      t.like(ended, { end: "exited", exit: 0 });
      const first = await eventually(() => say("cat /root/beat").then((beat) => beat || null));
      await eventually(async () => (await say("cat /root/beat")) !== first);
      t.is((await driver.poll(ref, (await run("true")).id)).state, "ended");
    });
  });

  test.serial(
    `${name}: stop ends a command with its whole tree, and a finished command's daemons`,
    async (t) => {
      await withSandbox(subject, {}, async ({ run, start, driver, ref, say }) => {
        const running = await start("(setsid sleep 1111 &); sleep 1111");
        await eventually(async () => (await driver.poll(ref, running)).state === "running");
        await driver.stop(ref, running);
        t.like(await driver.poll(ref, running), { state: "ended", end: "stopped", exit: null });
        const { id } = await run("setsid sleep 1111 & true");
        await driver.stop(ref, id);
        t.is(await say("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 111[1]' || true"), "0");
        t.like(await driver.poll(ref, id), { state: "ended", end: "exited", exit: 0 });
      });
    },
  );

  test.serial(`${name}: outputs can be reopened by name without losing what was written`, async (t) => {
    await withSandbox(subject, {}, async ({ run }) => {
      const { stdout, stderr } = await run(
        "echo a >&2; echo b > /dev/stderr; echo c; echo d > /dev/stdout; echo e",
      );
      t.deepEqual([stdout, stderr], ["c\nd\ne\n", "a\nb\n"]);
    });
  });

  // Without a user namespace of its own, root may not be given rights over the network.
  const inner = subject.capabilities.snapshots === "layers" ? test.serial : test.serial.skip;
  inner(`${name}: a program with file capabilities starts`, async (t) => {
    await withSandbox(subject, {}, async ({ say }) => {
      const grant =
        'import os, struct; os.setxattr("/root/echo", "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))';
      await say(`cp /bin/echo /root/echo && python3 -c '${grant}'`);
      t.is(await say("/root/echo started"), "started");
    });
  });

  test.serial(`${name}: a setuid program and another user work`, async (t) => {
    await withSandbox(subject, {}, async ({ say }) => {
      await say(
        "useradd --create-home worker && cp /usr/bin/id /usr/local/bin/rootid && chmod 4755 /usr/local/bin/rootid",
      );
      t.is(await say("su worker -c 'id -u'"), await say("id -u worker"));
      t.is(await say("su worker -c '/usr/local/bin/rootid -u'"), "0");
    });
  });
}
