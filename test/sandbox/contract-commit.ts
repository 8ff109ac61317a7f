import test from "ava";
import { type Subject, withHostMounts, withSandbox } from "./subject.ts";

const SERVE = `setsid python3 -m http.server 8080 --bind 127.0.0.1 --directory /srv > /dev/null 2>&1 &
until python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8080), 1)' 2> /dev/null; do sleep 0.1; done`;
const ASK = `python3 -c '
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:8080/said", timeout=5).read().decode())'`;
/** Sends nothing: the kernel looks for a way when it is told the address. */
const ROUTE = `python3 -c '
import socket
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9)); print("there is a way")
except OSError: print("no way")'`;
const SLEEPERS =
  "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o '[s]leep.100[0-9]\\|[s]leep(100[0-9]' || true";

/** What holds where an image of the container is a frame, and each root a container of its own. */
export function commitContract(subject: Subject): void {
  const { name } = subject;

  test.serial(
    `${name}: a service answers after a push and on a fork's loopback, and ends with a pop, not with a drop`,
    async (t) => {
      await withSandbox(subject, {}, async ({ driver, ref, say, run }) => {
        await say(`echo alive > /srv/said; ${SERVE}`);
        await driver.push(ref, "main", "f");
        t.is(await say(ASK), "alive");
        await driver.fork(ref, "main", "side");
        t.is(await say(ASK, "side"), "alive");
        await driver.drop(ref, "side");
        t.is(await say(ASK), "alive");
        await driver.pop(ref, "main", "f");
        t.not((await run(ASK)).ended.exit, 0);
        await say(SERVE);
        t.is(await say(ASK), "alive");
      });
    },
  );

  test.serial(`${name}: pop ends all that runs, of its own root only, also what hides`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref, say, start }) => {
      await say("setsid sleep 1001 > /dev/null 2>&1 &");
      await driver.push(ref, "main", "f");
      await driver.fork(ref, "main", "side");
      const beside = await start("sleep 1007", { root: "side" });
      const hanging = await start("sleep 1002");
      await say("(setsid sh -c 'setsid sleep 1003 & setsid sleep 1004 & sleep 1005' &) ; true");
      await driver.pop(ref, "main", "f");
      t.is(await say(SLEEPERS), "");
      t.like(await driver.poll(ref, hanging), { state: "ended", end: "stopped", exit: null });
      t.like(await driver.poll(ref, beside), { state: "running" });
      t.is(await say(SLEEPERS, "side"), "sleep 1007");
      await driver.stop(ref, beside);
      t.like(await driver.poll(ref, beside), { state: "ended", end: "stopped" });
      const dropped = await start("sleep 1008", { root: "side" });
      await driver.drop(ref, "side");
      t.like(await driver.poll(ref, dropped), { state: "ended", end: "stopped" });
      await driver.stop(ref, dropped);
    });
  });

  test.serial(
    `${name}: no command runs twice, in whichever frame or root it is asked for again`,
    async (t) => {
      await withSandbox(subject, {}, async ({ driver, ref, say, run }) => {
        const once = { id: "once" };
        await driver.push(ref, "main", "f");
        await run("echo ran >> /root/log; echo said", once);
        await driver.fork(ref, "main", "side");
        await driver.pop(ref, "main", "f");
        for (const root of ["main", "side"]) {
          const { ended, stdout } = await run("echo ran >> /root/log; echo said", { ...once, root });
          t.like(ended, { end: "exited", exit: 0 });
          t.is(stdout, "said\n");
        }
        t.is(await say("cat /root/log 2>/dev/null || echo never"), "never");
        t.is(await say("cat /root/log", "side"), "ran");
      });
    },
  );

  test.serial(
    `${name}: mounts, environment, limits and the cut network are the same after a pop`,
    async (t) => {
      await withHostMounts(async (mounts) => {
        const overrides = { mounts, environment: { A: "sandbox" }, network: "on" as const };
        const look = `cat /opt/given/given /etc/one/file; echo $A; hostname; ${ROUTE}`;
        await withSandbox(subject, overrides, async ({ say, driver, ref }) => {
          const before = await say(look);
          t.is(before, "from the hostfrom the hostsandbox\nsandbox\nthere is a way");
          await driver.push(ref, "main", "f");
          await driver.network(ref, "off");
          const off = before.replace("there is a way", "no way");
          await driver.pop(ref, "main", "f");
          t.is(await say(look), off);
          await driver.fork(ref, "main", "side");
          t.is(await say(look, "side"), off);
          await driver.network(ref, "on");
          t.deepEqual([await say(look), await say(look, "side")], [before, before]);
        });
      });
    },
  );

  test.serial(`${name}: files go into and come out of a fork, and its files are its own`, async (t) => {
    await withSandbox(subject, {}, async ({ driver, ref, say }) => {
      await say("mkdir /w && echo main > /w/f");
      await driver.fork(ref, "main", "side");
      await driver.put(ref, "side", "/w/in", await driver.get(ref, "main", "/w"));
      await say("echo side > /w/f", "side");
      t.is((await driver.readFile(ref, "side", "/w/in/f", 100))?.toString(), "main\n");
      t.is((await driver.readFile(ref, "side", "/w/f", 100))?.toString(), "side\n");
      t.is(await driver.readFile(ref, "main", "/w/in/f", 100), null);
      await driver.put(ref, "main", "/w/out", await driver.get(ref, "side", "/w"));
      t.is(await say("cat /w/f /w/out/f"), "main\nside");
    });
  });
}
