import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "ava";
import { eventually, probe, type Subject, specOf, withHostMounts, withSandbox } from "./subject.ts";

const OUTSIDE = `python3 -c 'import socket; socket.create_connection(("deb.debian.org", 80), 10); print("reached")'`;

export function isolationContract(subject: Subject): void {
  const { name, capabilities } = subject;

  test.serial(`${name}: nothing of the worker's environment is inside`, async (t) => {
    process.env.BENCH_CONTRACT_SECRET = "leak";
    await withSandbox(subject, { environment: { SEEN: "yes" } }, async ({ say }) => {
      const names = (await say("cat /proc/self/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n'")).split(
        "\n",
      );
      t.true(names.includes("SEEN=yes"));
      t.false(names.some((line) => /leak|BENCH_|NODE_/.test(line)));
      t.is(await say("cat /proc/[0-9]*/environ 2>/dev/null | grep -c leak || true"), "0");
    });
  });

  test.serial(`${name}: host files are not visible, mounts given are, read-only`, async (t) => {
    await withHostMounts(async (mounts, folder) => {
      await withSandbox(subject, { mounts }, async ({ run, say, driver, ref }) => {
        t.is(await say("cat /opt/given/given /etc/one/file"), "from the hostfrom the host");
        t.not((await run("echo x > /opt/given/given")).ended.exit, 0);
        if (capabilities.snapshots === "layers") {
          t.not((await run("rm /etc/one/file || mount -o remount,rw /opt/given")).ended.exit, 0);
          await driver.push(ref, "main", "f");
          t.is(await say("cat /opt/given/given"), "from the host");
        }
        t.is(await say(`ls ${folder} 2>/dev/null || echo absent`), "absent");
        t.is(await say("(ls /proc/1/root/ /proc/1/cwd/; readlink /proc/1/fd/*) 2>/dev/null | wc -l"), "0");
      });
    });
  });

  test.serial(`${name}: a killer of everything harms neither the sandbox nor its own record`, async (t) => {
    await withSandbox(subject, {}, async ({ run, say }) => {
      const { ended, stdout } = await run(
        "kill -9 1; kill -STOP 1; kill -9 -1; sleep 0.2; echo survived; exit 7",
      );
      t.like(ended, { end: "exited", exit: 7 });
      t.is(stdout, "survived\n");
      const every = "cd /proc; for p in [0-9]*; do [ $p = $$ ] || kill -9 $p; done 2>/dev/null; exit 5";
      t.like((await run(every)).ended, { end: "exited", exit: 5 });
      t.is(await say("echo usable"), "usable");
    });
  });

  test.serial(
    `${name}: ways out are shut: mounts, namespaces, devices, tracing of init, kernel settings`,
    async (t) => {
      await withSandbox(subject, {}, async ({ run, say }) => {
        const denied = [
          "mount -t tmpfs none /mnt",
          "umount /proc/sys",
          "unshare --user true",
          "unshare --mount true",
          "nsenter --target 1 --mount true",
          "mknod /tmp/disk b 7 0",
          "echo 1 > /proc/sys/kernel/sysrq",
          "echo b > /proc/sysrq-trigger",
          "echo core > /proc/sys/kernel/core_pattern",
          "cat /proc/1/mem",
          "cat /proc/kcore | head -c 1 | grep -q .",
          "python3 -c 'import ctypes; exit(ctypes.CDLL(None, use_errno=True).ptrace(16, 1, 0, 0) == 0 or 1)'",
          "chroot /proc/1/root true",
          "touch /sys/kernel/x",
          "hostname changed",
          "date -s 2001-01-01",
          "ip route del unreachable 169.254.0.0/16",
          "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
        ];
        // Where only the engine filters system calls, its age decides.
        const vsock = "python3 -c 'import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)'";
        if (capabilities.snapshots === "layers") denied.push(vsock);
        for (const command of denied) t.not((await run(command)).ended.exit, 0, command);
        t.is(await say("ls /proc/self/fd | wc -l"), "4", "standard streams and the folder itself");
        t.is(await say("cat /proc/sys/kernel/random/boot_id | wc -c"), "37");
      });
    },
  );

  test.serial(`${name}: sandboxes do not see each other`, async (t) => {
    const driver = subject.driver();
    const [first, second] = await Promise.all([
      driver.create(await specOf(subject)),
      driver.create(await specOf(subject)),
    ]);
    try {
      const [one, two] = [probe(driver, first), probe(driver, second)];
      await one.say("setsid sleep 4321 > /dev/null 2>&1 & touch /tmp/mine /dev/shm/mine /run/mine");
      await one.say("setsid python3 -m http.server 8080 > /dev/null 2>&1 & true");
      t.is(await two.say("ls /tmp/mine /dev/shm/mine /run/mine 2>/dev/null | wc -l"), "0");
      t.is(await two.say("cat /proc/[0-9]*/cmdline | grep -c '432[1]' || true"), "0");
      t.not(
        (await two.run("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8080), 1)'"))
          .ended.exit,
        0,
      );
    } finally {
      await Promise.all([driver.destroy(first), driver.destroy(second)]);
    }
  });

  const network = capabilities.networkSwitch ? test.serial : test.serial.skip;
  network(`${name}: the outside network is switched off and on, loopback stays`, async (t) => {
    await withSandbox(subject, { network: "on" }, async ({ run, say, driver, ref }) => {
      await say(
        "setsid python3 -m http.server 8080 --bind 127.0.0.1 --directory /usr/share > /dev/null 2>&1 & true",
      );
      const loopback =
        'python3 -c \'import socket; socket.create_connection(("localhost", 8080), 5); print("local")\'';
      await eventually(async () => (await run(loopback)).ended.exit === 0);
      const reachable = (await run(OUTSIDE)).ended.exit === 0;
      if (!reachable) t.log("the outside is not reachable from this machine: only the cut is tested");
      for (let i = 0; i < 2; i++) await driver.network(ref, "off");
      t.not((await run(OUTSIDE)).ended.exit, 0);
      t.is(await say(loopback), "local");
      for (let i = 0; i < 2; i++) await driver.network(ref, "on");
      if (reachable) t.is(await say(OUTSIDE), "reached");
      t.is(await say(loopback), "local");
    });
  });

  test.serial(`${name}: the host's loopback is out of reach`, async (t) => {
    const server = createServer((_, response) => response.end("host"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await withSandbox(subject, { network: "on" }, async ({ run }) => {
        const metadata = 'import socket; socket.create_connection(("169.254.169.254", 80), 3)';
        t.regex((await run(`python3 -c '${metadata}'`)).stderr, /No route to host|Network is unreachable/);
        for (const host of ["127.0.0.1", "localhost", "10.0.2.2", "0.0.0.0"]) {
          const { ended } = await run(
            `python3 -c 'import socket; socket.create_connection(("${host}", ${port}), 3)'`,
          );
          t.not(ended.exit, 0, host);
        }
      });
    } finally {
      server.close();
    }
  });
}
