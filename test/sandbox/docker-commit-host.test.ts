import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { dockerBase } from "../../activities/sandbox/docker/base.ts";
import { connectEngine } from "../../activities/sandbox/docker/client.ts";
import { dockerDriver } from "../../activities/sandbox/docker/driver.ts";
import {
  containerName,
  FRAMES,
  LABELS,
  rootName,
  sharedVolume,
} from "../../activities/sandbox/docker/names.ts";
import { dockerEngineForTests } from "../support/docker-engine.ts";
import { testStateFolder } from "../support/state.ts";
import { type Subject, withSandbox } from "./subject.ts";

const found = await dockerEngineForTests();
const engine = found ?? "";
const docker = connectEngine(found ?? undefined);
const stateFolder = await mkdtemp(join(tmpdir(), "docker-commit-"));
const options = { stateFolder, host: "test-commit", snapshots: "commit" as const };
const driver = dockerDriver({ ...options, engine });
const subject: Subject = {
  name: "docker, commit",
  driver: () => driver,
  base: () => dockerBase({ kind: "debian" }, { stateFolder: testStateFolder(), engine }),
  capabilities: {
    snapshots: "commit",
    networkSwitch: true,
    userNamespaces: false,
    limits: { memory: "kernel", processes: "kernel", disk: "watched" },
  },
};
const containerOf = (id: string, root = "main") => docker.getContainer(rootName("test-commit", id, root));
const on = found === null ? test.serial.skip : test.serial;

test.after.always(() => rm(stateFolder, { recursive: true, force: true }));

const labelled = (id: string) => ({ label: [`${LABELS.sandbox}=${id}`] });

async function framesLeft(id: string): Promise<string[]> {
  const images = await docker.listImages({ all: true, filters: labelled(id) });
  return images.flatMap(({ Id, RepoTags }) => RepoTags ?? [Id]);
}

on("the driver says that frames are commits", async (t) => {
  t.is((await driver.capabilities()).snapshots, "commit");
});

on("destroy leaves no container, image or volume of the sandbox, and what others made of it", async (t) => {
  await withSandbox(subject, {}, async ({ ref, say }) => {
    await driver.push(ref, "main", "a");
    await say("echo 1 > /root/f");
    await driver.push(ref, "main", "b");
    await driver.pop(ref, "main", "b");
    await driver.push(ref, "main", "c");
    await driver.fork(ref, "main", "side");
    await driver.push(ref, "side", "d");
    const [frame = ""] = (await framesLeft(ref.id)).filter((name) => name.startsWith(FRAMES));
    await docker.getImage(frame).tag({ repo: "setup-bench-test", tag: "kept" });
    const beside = await docker.createContainer({
      Image: (await subject.base()).location,
      Cmd: ["/bin/bash"],
    });
    try {
      await driver.destroy(ref);
      for (const root of ["main", "side"]) {
        await t.throwsAsync(containerOf(ref.id, root).inspect(), { message: /404/ });
      }
      await t.throwsAsync(docker.getVolume(sharedVolume("test-commit", ref.id)).inspect(), {
        message: /404/,
      });
      t.deepEqual(
        (await framesLeft(ref.id)).filter((name) => name !== "<none>:<none>"),
        ["setup-bench-test:kept"],
      );
      t.truthy(await beside.inspect());
    } finally {
      await beside.remove();
      await docker.getImage("setup-bench-test:kept").remove();
      await driver.destroy(ref);
    }
    t.deepEqual(await framesLeft(ref.id), []);
  });
});

on(
  "a sandbox whose containers are gone is listed by its images, as its owner's, until it is destroyed",
  async (t) => {
    const owner = { server: "a-server", sweep: "s", run: "r/1", attempt: 3, workflow: "s/r/1" };
    await withSandbox(subject, { owner }, async ({ ref }) => {
      await driver.push(ref, "main", "f");
      await containerOf(ref.id).remove({ force: true, v: true });
      const lost = await t.throwsAsync(driver.pop(ref, "main", "f"), { instanceOf: CausedError });
      t.is(lost?.failure, "sandbox_lost");
      const mine = (await driver.list()).filter(({ sandbox }) => sandbox.id === ref.id);
      t.deepEqual(
        mine.map((one) => one.owner),
        [owner],
      );
      await driver.destroy(ref);
      t.false((await driver.list()).some(({ sandbox }) => sandbox.id === ref.id));
      t.deepEqual(await framesLeft(ref.id), []);
    });
  },
);

on("the disk that frames take counts, and what a container stands on counts once", async (t) => {
  await withSandbox(subject, {}, async ({ ref, say }) => {
    const used = async () => Math.round((await driver.usage(ref)).diskBytes / (10 << 20));
    await say("head -c 100M /dev/urandom > /root/big && sync");
    t.is(await used(), 10);
    await driver.push(ref, "main", "a");
    t.is(await used(), 20);
    await driver.push(ref, "main", "b");
    t.is(await used(), 30);
    await driver.pop(ref, "main", "b");
    t.is(await used(), 20);
    await driver.pop(ref, "main", "a");
    t.is(await used(), 10);
  });
});

on("a container that ran out of a limit is lost by its cause, not replaced", async (t) => {
  await withSandbox(subject, {}, async ({ ref }) => {
    await driver.push(ref, "main", "f");
    await containerOf(ref.id).kill();
    for (const call of [driver.pop(ref, "main", "f"), driver.push(ref, "main", "g")]) {
      const error = await t.throwsAsync(call, { instanceOf: CausedError });
      t.is(error?.failure, "sandbox_lost");
    }
  });
});

const here = engine.startsWith("unix://") ? on : test.serial.skip;
here(
  "a push, fork or pop whose worker is killed after any of its requests is finished when repeated",
  async (t) => {
    const moves = [
      ["push", "main", "f"],
      ["fork", "main", "side"],
      ["pop", "main", "f"],
    ] as const;
    for (const move of moves) {
      for (let requests = 1, whole = false; !whole; requests++) {
        t.true(requests < 15);
        await withSandbox(subject, {}, async ({ ref, say }) => {
          await say("echo 1 > /root/f");
          if (move[0] !== "push") await driver.push(ref, "main", "f");
          if (move[0] !== "push") await say("echo 2 > /root/f");
          whole = await moveAndDie(ref.id, move, requests);
          await driver[move[0]](ref, move[1], move[2]);
          if (move[0] === "fork") t.is(await say("cat /root/f", "side"), "2");
          if (move[0] !== "pop") await driver.pop(ref, "main", "f");
          if (move[0] === "fork") await driver.drop(ref, "side");
          t.is(await say("cat /root/f"), "1");
          const containers = await docker.listContainers({ all: true, filters: labelled(ref.id) });
          t.deepEqual(
            containers.map(({ Names }) => Names),
            [[`/${containerName("test-commit", ref.id)}`]],
          );
        });
      }
    }
  },
);

/** In a worker that is killed once so many requests that change something were answered; whether it was done before. */
async function moveAndDie(
  id: string,
  [verb, root, name]: readonly string[],
  requests: number,
): Promise<boolean> {
  const way = await dyingWay(requests);
  const at = JSON.stringify(new URL("../../activities/sandbox/docker/driver.ts", import.meta.url).href);
  const code = `
    const { dockerDriver } = await import(${at});
    const driver = dockerDriver(${JSON.stringify({ ...options, engine: way.address })});
    const ref = ${JSON.stringify({ driver: "docker", id, host: options.host })};
    await driver.${verb}(ref, ${JSON.stringify(root)}, ${JSON.stringify(name)});`;
  const worker = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" });
  const ended = once(worker, "exit");
  const whole = await Promise.race([way.dead.then(() => false), ended.then(([code]) => code === 0)]);
  worker.kill("SIGKILL");
  await ended;
  await way.close();
  return whole;
}

/** A way to the engine that is dead after so many requests that change something; the last one still gets there. */
async function dyingWay(
  requests: number,
): Promise<{ address: string; dead: Promise<void>; close(): Promise<void> }> {
  const socketPath = engine.slice("unix://".length);
  const path = join(stateFolder, "way.sock");
  let left = requests;
  let die = () => {};
  const dead = new Promise<void>((resolve) => {
    die = resolve;
  });
  const server = createServer((from, to) => {
    if (left <= 0) return void from.socket.destroy();
    const counts = from.method !== "GET" && !from.url?.endsWith("/exec");
    const { method, url, headers } = from;
    const onward = request({ socketPath, method, path: url, headers }, (answer) => {
      if (counts && --left <= 0) return void answer.resume().on("end", die);
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    from.pipe(onward);
  });
  // Calls into the container: from here on it is a stream in both directions.
  server.on("upgrade", ({ method, url, rawHeaders }, from, head) => {
    const onward = connect(socketPath);
    const lines = rawHeaders.flatMap((key, index) => (index % 2 ? [] : [`${key}: ${rawHeaders[index + 1]}`]));
    onward.write(`${method} ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    onward.write(head);
    from.pipe(onward).pipe(from);
    for (const end of [from, onward]) end.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = () =>
    new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections());
  return { address: `unix://${path}`, dead, close };
}
