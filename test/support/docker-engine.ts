import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, open, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectEngine, messageOf } from "../../activities/sandbox/docker/client.ts";
import { NETWORK } from "../../activities/sandbox/docker/names.ts";
import { withLock } from "../../activities/store/lock.ts";

const REMEDY = "Remedy: start a Docker engine, set DOCKER_HOST, or apt-get install docker.io iptables";
const READY_MS = 60_000;

let shared: Promise<string | null> | undefined;

/**
 * Address (as in DOCKER_HOST) of a Docker engine: the one that answers, else one of this test process's own, ended with
 * it. Null where there is none; in CI that is an error.
 */
export function dockerEngineForTests(): Promise<string | null> {
  shared ??= find();
  return shared;
}

async function find(): Promise<string | null> {
  const given = process.env.DOCKER_HOST;
  const candidates = given ? [given] : ["unix:///var/run/docker.sock"];
  for (const address of candidates) if ((await problemOf(address)) === null) return address;
  const missing =
    spawnSync("dockerd", ["--version"]).status !== 0 ? "no engine answers, and there is no dockerd" : null;
  // Two that start at once take each other's chains of the packet filter away, and neither starts.
  const turn = join(tmpdir(), "docker-of-tests.lock");
  if (missing === null && process.getuid?.() === 0) return withLock(turn, startOwn);
  const why = `${missing ?? "no engine answers, and only root can start one"}. ${REMEDY}`;
  if (process.env.CI) throw new Error(why);
  console.warn(`tests of the Docker driver are left out: ${why}`);
  return null;
}

async function problemOf(address: string): Promise<string | null> {
  try {
    await connectEngine(address).ping();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** A real engine beside all others: own data, socket and pid file, and no bridge of its own. */
async function startOwn(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "docker-of-tests-"));
  const socket = `unix://${join(folder, "docker.sock")}`;
  const log = await open(join(folder, "log"), "w");
  const options = [
    "--data-root",
    join(folder, "data"),
    "--exec-root",
    join(folder, "exec"),
    "--host",
    socket,
  ];
  const own = ["--pidfile", join(folder, "pid"), "--bridge", "none", "--log-level", "warn"];
  const daemon = spawn("dockerd", [...options, ...own], { stdio: ["ignore", log.fd, log.fd] });
  // It does not keep the tests' process from ending, with which it ends.
  daemon.unref();
  process.once("exit", () => end(daemon, folder));
  const until = Date.now() + READY_MS;
  while ((await problemOf(socket)) !== null) {
    if (daemon.exitCode !== null || Date.now() > until) {
      throw new Error(`dockerd does not start: ${(await readFile(join(folder, "log"), "utf8")).slice(-500)}`);
    }
    await sleep(200);
  }
  await log.close();
  return socket;
}

/**
 * Synchronous: the process is about to end. The engine is asked to end, so that it ends its containers and mounts; its
 * network first, whose bridge would outlive it.
 */
function end(daemon: ChildProcess, folder: string): void {
  if (daemon.pid === undefined || daemon.exitCode !== null) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  const request = { socketPath: join(folder, "docker.sock"), method: "DELETE", path: `/networks/${NETWORK}` };
  const code = `require("node:http").request(${JSON.stringify(request)}, (r) => r.resume()).on("error", () => {}).end()`;
  spawnSync(process.execPath, ["-e", code], { timeout: 10_000 });
  process.kill(daemon.pid, "SIGTERM");
  spawnSync("timeout", ["30", "tail", `--pid=${daemon.pid}`, "-f", "/dev/null"]);
  rmSync(folder, { recursive: true, force: true });
}
