import test from "ava";
import { commitContract } from "./contract-commit.ts";
import { eventually, type Subject, withSandbox } from "./subject.ts";

/** A service of the base alone: answers on a loopback port and on a socket under /run. */
const SERVICE = `cat > /root/service.py <<'END'
import os, socket, threading
def serve(s):
    while True:
        c, _ = s.accept(); c.sendall(b"alive"); c.close()
tcp = socket.socket(); tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); tcp.bind(("127.0.0.1", 80)); tcp.listen()
unix = socket.socket(socket.AF_UNIX); unix.bind("/run/service.sock"); unix.listen()
threading.Thread(target=serve, args=(tcp,)).start(); open("/run/ready", "w"); serve(unix)
END
setsid python3 /root/service.py > /root/service.log 2>&1 &
while ! [ -e /run/ready ]; do sleep 0.02; done`;

const ASK = `python3 -c '
import socket
a = socket.create_connection(("127.0.0.1", 80)).recv(9)
s = socket.socket(socket.AF_UNIX); s.connect("/run/service.sock")
print(a.decode(), s.recv(9).decode())'`;

export function layerContract(subject: Subject): void {
  if (subject.capabilities.snapshots === "rebuild") refusalContract(subject);
  else snapshotContract(subject);
  if (subject.capabilities.snapshots === "layers") sharedProcessContract(subject);
  if (subject.capabilities.snapshots === "commit") commitContract(subject);
}

function snapshotContract(subject: Subject): void {
  const { name, capabilities } = subject;

  test.serial(`${name}: pop restores changed, new and removed files of several frames at once`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref, say }) => {
      await say("mkdir -p /w/d && echo 1 > /w/f && echo x > /w/d/x");
      await driver.push(ref, "main", "one");
      await say("echo 2 > /w/f; rm -r /w/d; touch /w/new; rm /etc/passwd; chmod 700 /srv");
      await driver.push(ref, "main", "two");
      await say("echo 3 > /w/f; mkdir /w/d; touch /w/d/other");
      await driver.push(ref, "main", "three");
      await say("echo 4 > /w/f");
      await driver.pop(ref, "main", "three");
      t.is(await say("cat /w/f; ls /w/d"), "3\nother");
      await driver.pop(ref, "main", "one");
      t.is(
        await say("cat /w/f; ls /w; ls /w/d; stat -c %a /srv; test -s /etc/passwd && echo there"),
        "1\nd\nf\nx\n755\nthere",
      );
      await t.throwsAsync(driver.pop(ref, "main", "two"), { message: /no such frame/ });
      await say("echo 5 > /w/f");
      t.is(await say("cat /w/f"), "5");
    });
  });

  test.serial(`${name}: push, pop, fork and drop can be repeated`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref, say }) => {
      await say("echo 1 > /root/f");
      for (let i = 0; i < 2; i++) await driver.push(ref, "main", "a");
      await say("echo 2 > /root/f");
      for (let i = 0; i < 2; i++) await driver.fork(ref, "main", "side");
      t.is(await say("cat /root/f", "side"), "2");
      for (let i = 0; i < 2; i++) await driver.pop(ref, "main", "a");
      t.is(await say("cat /root/f"), "1");
      for (let i = 0; i < 2; i++) await driver.drop(ref, "side");
      await t.throwsAsync(say("true", "side"));
      await driver.push(ref, "main", "a");
      await say("echo 3 > /root/f");
      await driver.pop(ref, "main", "a");
      t.is(await say("cat /root/f"), "1");
    });
  });

  test.serial(`${name}: a fork and its origin do not see each other's writes`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref, say }) => {
      await say("echo base > /root/f");
      await driver.push(ref, "main", "f");
      await say("echo before > /root/f");
      await driver.fork(ref, "main", "side");
      await say("echo main > /root/f");
      t.is(await say("cat /root/f", "side"), "before");
      await say("echo side > /root/f", "side");
      t.is(await say("cat /root/f"), "main");
      await driver.fork(ref, "side", "deeper");
      await driver.push(ref, "side", "g");
      await say("echo changed > /root/f", "side");
      await driver.pop(ref, "side", "g");
      t.deepEqual([await say("cat /root/f", "side"), await say("cat /root/f", "deeper")], ["side", "side"]);
      await driver.drop(ref, "side");
      t.is(await say("cat /root/f", "deeper"), "side");
      await driver.pop(ref, "main", "f");
      t.is(await say("cat /root/f"), "base");
      await driver.pop(ref, "deeper", "f");
      t.is(await say("cat /root/f", "deeper"), "base");
    });
  });

  // An engine takes seconds where layers take milliseconds.
  const [count, word] = capabilities.snapshots === "layers" ? [100, "a hundred"] : [10, "ten"];
  test.serial(`${name}: ${word} frames stand on each other`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref, say }) => {
      const every = count / 10;
      for (let i = 0; i < count; i++) {
        if (i % every === 0) await say(`echo ${i} > /root/f; touch /root/n${i}`);
        await driver.push(ref, "main", `frame-${i}`);
      }
      t.is(await say("cat /root/f; ls /root/n* | wc -l"), `${9 * every}\n10`);
      await driver.pop(ref, "main", `frame-${Math.floor(count / 4)}`);
      t.is(await say("cat /root/f; ls /root/n* | wc -l"), `${2 * every}\n3`);
      await driver.pop(ref, "main", "frame-0");
      t.is(await say("cat /root/f"), "0");
    });
  });

  test.serial(`${name}: space of dropped frames comes back`, async (t) => {
    await withSandbox(subject, { limits: { diskBytes: 400 << 20 } }, async ({ driver, ref, say }) => {
      for (let i = 0; i < 4; i++) {
        await driver.push(ref, "main", "f");
        await say("head -c 200M /dev/zero > /root/big");
        await driver.pop(ref, "main", "f");
        await eventually(async () => (await driver.usage(ref)).diskBytes < 50 << 20);
      }
      t.pass();
    });
  });
}

/** What holds where all frames and forks have the processes in common. */
function sharedProcessContract(subject: Subject): void {
  const { name } = subject;

  test.serial(
    `${name}: a service started before a push or fork answers in all frames and forks and survives a pop`,
    async (t) => {
      await withSandbox(subject, {}, async ({ driver, ref, say, run }) => {
        await say(SERVICE);
        t.is(await say(ASK), "alive alive");
        await driver.push(ref, "main", "f");
        t.is(await say(ASK), "alive alive");
        await driver.fork(ref, "main", "side");
        t.is(await say(ASK, "side"), "alive alive");
        await driver.pop(ref, "main", "f");
        t.is(await say(ASK), "alive alive");
        await driver.drop(ref, "side");
        t.is((await run(ASK)).stdout, "alive alive\n");
      });
    },
  );

  test.serial(
    `${name}: pop ends what was started since the push, also what hides from its parents, and nothing else`,
    async (t) => {
      await withSandbox(subject, {}, async ({ driver, ref, say, start }) => {
        await say("setsid sleep 1001 > /dev/null 2>&1 &");
        await driver.push(ref, "main", "f");
        const hanging = await start("sleep 1002");
        await say("(setsid sh -c 'setsid sleep 1003 & setsid sleep 1004 & sleep 1005' &) ; true");
        await say(
          "python3 -c 'import os,signal,time; os.fork() and os._exit(0); [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; time.sleep(1006)' & true",
        );
        await driver.pop(ref, "main", "f");
        const count =
          "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o '[s]leep.100[0-9]\\|[s]leep(100[0-9]' || true";
        t.is(await say(count), "sleep 1001");
        t.like(await driver.poll(ref, hanging), { state: "ended", end: "stopped" });
      });
    },
  );
}

/** A driver that keeps no snapshots says so, each time in the same words; all else goes on. */
function refusalContract(subject: Subject): void {
  test.serial(
    `${subject.name}: push, pop, fork and drop are refused where there are no layers`,
    async (t) => {
      await withSandbox(subject, {}, async ({ driver, ref, say }) => {
        const refused = { message: /no layers/ };
        await t.throwsAsync(driver.push(ref, "main", "f"), refused);
        await t.throwsAsync(driver.pop(ref, "main", "f"), refused);
        await t.throwsAsync(driver.fork(ref, "main", "side"), refused);
        await t.throwsAsync(driver.drop(ref, "side"), refused);
        t.is(await say("echo usable"), "usable");
      });
    },
  );
}
