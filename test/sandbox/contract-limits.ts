import test from "ava";
import { eventually, type Subject, withSandbox } from "./subject.ts";

/** Forks as many as told, all in sessions of their own and deaf to SIGTERM, and says how many there are. */
const CROWD = `#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int made = 0;
  signal(SIGTERM, SIG_IGN);
  for (int i = 0; i < atoi(argv[argc - 1]); i++) {
    int pid = fork();
    if (pid == 0) { setsid(); for (;;) pause(); }
    made += pid > 0;
  }
  printf("%d\\n", made);
}`;
const COUNT_PROCESSES = "ls /proc | grep -c '^[0-9]'";

export function limitContract(subject: Subject): void {
  const { name, capabilities } = subject;
  const { limits } = capabilities;

  test.serial(
    `${name}: the time limit ends the whole tree, double-forked and deaf processes too`,
    async (t) => {
      await withSandbox(subject, {}, async ({ run, say }) => {
        const deaf =
          "import os,signal,time; os.fork() and os._exit(0); os.setsid(); signal.signal(15, signal.SIG_IGN); time.sleep(1000)";
        const { ended, stdout } = await run(
          `trap 'echo told; exit 3' TERM; python3 -c '${deaf}' & (setsid sleep 1000 &); sleep 1000 & wait`,
          { seconds: 1 },
        );
        t.like(ended, { end: "timeout", exit: null });
        t.is(stdout, "told\n");
        t.is(await say("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o '[s]leep.1000' || true"), "");
      });
    },
  );

  test.serial(
    `${name}: an output flood ends the command; head, tail and the count of what is left out can be read`,
    async (t) => {
      await withSandbox(subject, {}, async ({ run, driver, ref, say }) => {
        const flood = await run("echo first; yes", { outputBytes: 1_000_000 });
        t.like(flood.ended, { end: "output", exit: null });
        t.true(flood.ended.stdoutBytes <= 2_000_000);
        const { id } = await run("echo first; seq 1 100000; echo last", { outputBytes: 1_000_000 });
        const { text, bytes, omitted } = await driver.read(ref, id, "stdout", { head: 8, tail: 12 });
        t.regex(text, /^first\n1\n[\s\S]*100000\nlast\n$/);
        t.is(omitted, bytes - 20);
        t.is(bytes, (await driver.poll(ref, id)).stdoutBytes);
        t.is(await say("pgrep yes || echo none"), "none");
      });
    },
  );

  test.serial(`${name}: ten thousand processes are all ended by one stop`, async (t) => {
    const limits = { processes: 12_000, memoryBytes: 4 * 2 ** 30 };
    await withSandbox(subject, { limits }, async ({ start, say, driver, ref }) => {
      await say(`echo '${CROWD}' > /root/crowd.c && gcc -static -o /root/crowd /root/crowd.c`);
      const id = await start("/root/crowd 10000; sleep 1000", { seconds: 600 });
      const whole = { head: 99, tail: 0 };
      const text = await eventually(
        async () => (await driver.read(ref, id, "stdout", whole)).text || null,
        240,
      );
      t.is(text, "10000\n");
      t.true(Number(await say(COUNT_PROCESSES)) > 10_000);
      await driver.stop(ref, id);
      t.like(await driver.poll(ref, id), { state: "ended", end: "stopped", exit: null });
      t.true(Number(await say(COUNT_PROCESSES)) < 20);
    });
  });

  // Without a control group of the payload's own the limit holds, but a bomb leaves no process for anything else.
  const separate = limits.processes !== "none" && capabilities.snapshots === "layers";
  const processes = separate ? test.serial : test.serial.skip;
  processes(
    `${name}: a fork bomb stays within the process limit, is ended and leaves the sandbox usable`,
    async (t) => {
      await withSandbox(subject, { limits: { processes: 300 } }, async ({ run, start, say, driver, ref }) => {
        const bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass";
        const id = await start(`bash -c ':(){ :|:& };:' 2>/dev/null; python3 -c '${bomb}'`);
        const meanwhile = await run("sleep 2");
        t.is(meanwhile.ended.state, "ended");
        await driver.stop(ref, id);
        t.like(await driver.poll(ref, id), { state: "ended", end: "stopped" });
        t.true(Number(await say(COUNT_PROCESSES)) < 20);
        const other = await run(
          `su -s /bin/sh nobody -c 'python3 -c "${bomb.replaceAll("\n", "\\n").replace(/^/, 'exec(\\"').concat('\\")')}"'`,
          { seconds: 2 },
        );
        t.like(other.ended, { end: "timeout" });
        t.true(Number(await say(COUNT_PROCESSES)) < 20);
      });
    },
  );

  const disk = limits.disk === "kernel" ? test.serial : test.serial.skip;
  disk(`${name}: a full disk is ENOSPC, and the sandbox is usable again after deleting`, async (t) => {
    await withSandbox(subject, { limits: { diskBytes: 300 << 20 } }, async ({ run, say, driver, ref }) => {
      const full = await run("cat /dev/zero > /root/big");
      t.like(full.ended, { end: "exited", exit: 1 });
      t.regex(full.stderr, /No space left/);
      t.true((await driver.usage(ref)).diskBytes > 200 << 20);
      t.is(await say("echo still here; rm /root/big; head -c 1M /dev/zero | wc -c"), "still here\n1048576");
      t.is(await say("echo x > /root/f; cat /root/f"), "x");
    });
  });

  const memory = limits.memory === "kernel" ? test.serial : test.serial.skip;
  memory(`${name}: a command killed for memory ends as oom, and the sandbox goes on`, async (t) => {
    await withSandbox(subject, { limits: { memoryBytes: 200 << 20 } }, async ({ run, say, driver, ref }) => {
      const { ended } = await run("python3 -c 'x = [bytearray(10 << 20) for _ in range(1000)]'");
      t.like(ended, { end: "oom", exit: null });
      t.like((await run("python3 -c 'x = bytearray(1 << 30)'; exit $?")).ended, { end: "oom" });
      t.like((await run("kill -9 $$")).ended, { end: "exited", exit: 137 });
      t.is(await say("echo alive"), "alive");
      const { oomKills, memoryPeakBytes } = await driver.usage(ref);
      t.true(oomKills >= 2);
      t.true((memoryPeakBytes ?? 0) > 100 << 20);
    });
  });
}
