import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { dockerBase } from "../../activities/sandbox/docker/base.ts";
import { connectEngine } from "../../activities/sandbox/docker/client.ts";
import { dockerDriver } from "../../activities/sandbox/docker/driver.ts";
import { containerName, NETWORK } from "../../activities/sandbox/docker/names.ts";
import { runCommand } from "../../activities/sandbox/run-command.ts";
import { dockerEngineForTests } from "../support/docker-engine.ts";
import { layerTar } from "../support/image.ts";
import { testStateFolder } from "../support/state.ts";
import { eventually, probe, type Subject, specOf, withSandbox } from "./subject.ts";

const found = await dockerEngineForTests();
const engine = found ?? "";
const docker = connectEngine(found ?? undefined);
const stateFolder = await mkdtemp(join(tmpdir(), "docker-host-"));
const driver = dockerDriver({ stateFolder, host: "test-host", engine });
const subject: Subject = {
  name: "docker",
  driver: () => driver,
  base: () => dockerBase({ kind: "debian" }, { stateFolder: testStateFolder(), engine }),
  capabilities: {
    snapshots: "layers",
    networkSwitch: true,
    userNamespaces: false,
    limits: { memory: "kernel", processes: "kernel", disk: "kernel" },
  },
};
const containerOf = (id: string) => docker.getContainer(containerName("test-host", id));
const on = found === null ? test.serial.skip : test.serial;

test.after.always(() => rm(stateFolder, { recursive: true, force: true }));

const EXEC = {
  id: "long",
  root: "main",
  command: "echo start >> /root/log; sleep 2; echo end >> /root/log; cat /root/log",
  cwd: "/",
  environment: {},
  seconds: 60,
  outputBytes: 1_000_000,
  stdin: null,
};

on("a command goes on when its worker is killed, and another worker attaches to it", async (t) => {
  const spec = await specOf(subject);
  const at = (path: string) =>
    JSON.stringify(new URL(`../../activities/sandbox/${path}`, import.meta.url).href);
  const code = `
    const { dockerDriver } = await import(${at("docker/driver.ts")});
    const driver = dockerDriver(${JSON.stringify({ stateFolder, host: "test-host", engine })});
    const ref = await driver.create(${JSON.stringify(spec)});
    await driver.start(ref, ${JSON.stringify(EXEC)});
    console.log("started");
    await driver.poll(ref, "long", { waitMs: 60000 });`;
  const worker = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(worker.stdout as NodeJS.ReadableStream, "data");
  const ref = { driver: "docker" as const, id: spec.id, host: "test-host" };
  try {
    worker.kill("SIGKILL");
    await once(worker, "exit");
    t.like(await runCommand(driver, ref, EXEC), { end: "exited", exit: 0 });
    t.is((await driver.read(ref, "long", "stdout", { head: 100, tail: 0 })).text, "start\nend\n");
  } finally {
    await driver.destroy(ref);
  }
});

on("destroy leaves no container, volume or loop device", async (t) => {
  await withSandbox(subject, { network: "on" }, async ({ ref, say }) => {
    await say("setsid sleep 1000 > /dev/null 2>&1 & head -c 50M /dev/urandom > /root/dirty");
    await driver.push(ref, "main", "f");
    await driver.fork(ref, "main", "side");
    const [volume, ...others] = (await containerOf(ref.id).inspect()).Mounts;
    if (volume?.Name === undefined) throw new Error("the container has no volume");
    t.deepEqual(others, []);
    const { ino } = statSync(join(volume.Source, "disk.img"));
    t.true(loopInodes().includes(ino));
    await driver.destroy(ref);
    await t.throwsAsync(containerOf(ref.id).inspect(), { message: /404/ });
    await t.throwsAsync(docker.getVolume(volume.Name).inspect(), { message: /404/ });
    await eventually(async () => !loopInodes().includes(ino));
  });
});

/** Of the files that loop devices stand on; their paths are those of mounts that the host does not see. */
function loopInodes(): number[] {
  const { stdout } = spawnSync("losetup", ["--list", "--noheadings", "--output", "BACK-INO"]);
  return stdout.toString().split("\n").filter(Boolean).map(Number);
}

on(
  "a container that is killed, stopped or removed by others is a lost sandbox, at once and by name",
  async (t) => {
    const ways = [
      (id: string) => containerOf(id).kill(),
      (id: string) => containerOf(id).stop({ t: 1 }),
      (id: string) => containerOf(id).remove({ force: true, v: true }),
    ];
    for (const end of ways) {
      await withSandbox(subject, {}, async ({ ref, start }) => {
        const id = await start("sleep 1000");
        await end(ref.id);
        const error = await t.throwsAsync(driver.poll(ref, id), { instanceOf: CausedError });
        t.is(error?.failure, "sandbox_lost");
      });
    }
  },
);

on("a restarted container is no sandbox any more", async (t) => {
  await withSandbox(subject, {}, async ({ ref }) => {
    await containerOf(ref.id).restart({ t: 1 });
    const error = await t.throwsAsync(driver.poll(ref, "any"), { instanceOf: CausedError });
    t.is(error?.failure, "sandbox_lost");
  });
});

on("a container that a killed worker left made but not started is taken up", async (t) => {
  const spec = await specOf(subject);
  const ref = await driver.create(spec);
  const made = await containerOf(ref.id).inspect();
  await driver.destroy(ref);
  const { Image, Entrypoint, Labels, Volumes, User } = made.Config;
  await docker.createContainer({
    name: containerName("test-host", spec.id),
    ...{ Image, Entrypoint: Entrypoint as string[], Labels, Volumes, User },
    HostConfig: made.HostConfig,
  });
  try {
    t.deepEqual(await driver.create(spec), ref);
    t.is(await probe(driver, ref).say("echo made"), "made");
  } finally {
    await driver.destroy(ref);
  }
});

on(
  "an engine that does not answer, an image that is not there and another's container are clear failures",
  async (t) => {
    const away = dockerDriver({ stateFolder, host: "test-host", engine: "unix:///no/such.sock" });
    const spec = await specOf(subject);
    const down = await t.throwsAsync(away.create(spec), {
      instanceOf: CausedError,
      message: /Remedy: start the engine/,
    });
    t.is(down?.failure, "capacity");
    const base = { digest: "x", location: "setup-bench-test/none:1" };
    const missing = await t.throwsAsync(driver.create({ ...spec, base }), { instanceOf: CausedError });
    t.is(missing?.failure, "image_pull");
    const name = containerName("test-host", spec.id);
    const stranger = await docker.createContainer({ name, Image: spec.base.location, Cmd: ["/bin/bash"] });
    try {
      await t.throwsAsync(driver.create(spec), { instanceOf: CausedError, message: /is not the sandbox/ });
      t.false((await driver.list()).some(({ sandbox }) => sandbox.id === spec.id));
    } finally {
      await stranger.remove({ force: true });
    }
  },
);

on("neither this machine's addresses nor other sandboxes are reached, whatever they listen on", async (t) => {
  const server = createServer((socket) => socket.end("host"));
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as { port: number };
  const { IPAM } = await docker.getNetwork(NETWORK).inspect();
  const gateway = IPAM?.Config?.[0]?.Gateway ?? "";
  const own = Object.values(networkInterfaces())
    .flat()
    .flatMap((one) => (one?.family === "IPv4" && !one.internal ? [one.address] : []));
  try {
    await withSandbox(subject, { network: "on" }, async (other) => {
      await other.say("setsid python3 -m http.server 8080 > /dev/null 2>&1 & true");
      const info = await containerOf(other.ref.id).inspect();
      const neighbour = info.NetworkSettings.Networks[NETWORK]?.IPAddress ?? "";
      await withSandbox(subject, { network: "on" }, async ({ run }) => {
        for (const [host, at] of [...[gateway, ...own].map((host) => [host, port]), [neighbour, 8080]]) {
          const { ended, stderr } = await run(
            `python3 -c 'import socket; socket.create_connection(("${host}", ${at}), 3)'`,
          );
          t.not(ended.exit, 0, `${host}`);
          t.regex(stderr, /unreachable|No route/, `${host}`);
        }
      });
    });
  } finally {
    server.close();
  }
});

on("a base is imported once, also by two at once, and one without bash is refused", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "docker-base-"));
  try {
    const request = { kind: "debian" as const };
    const options = { stateFolder: testStateFolder(), engine };
    const [first, second] = await Promise.all([dockerBase(request, options), dockerBase(request, options)]);
    t.deepEqual(first, second);
    const image = await docker.getImage(first.location).inspect();
    const again = await dockerBase({ kind: "image", reference: first.location }, options);
    t.is(again.location, image.Id);
    const tar = join(folder, "none.tar");
    await writeFile(tar, await layerTar([{ name: "etc/passwd", content: "x" }]));
    await t.throwsAsync(dockerBase({ kind: "tar", path: tar }, { stateFolder: folder, engine }), {
      message: /bash/,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

on("an image's own command, user, folder and environment do not get into the way", async (t) => {
  const { location } = await subject.base();
  const changes = ["USER nobody", 'ENTRYPOINT ["/bin/false"]', "WORKDIR /no/such", "ENV LEAK=image"];
  const base = await docker.createContainer({ Image: location, Cmd: ["/bin/bash"] });
  const image = await base.commit({ repo: "setup-bench-test", tag: "odd", changes: changes.join("\n") });
  await base.remove();
  try {
    const odd = { digest: "odd", location: "setup-bench-test:odd" };
    await withSandbox(subject, { base: odd }, async ({ say }) => {
      t.is(await say("id -u; pwd; echo $LEAK-"), "0\n/\n-");
    });
  } finally {
    await docker.getImage(image.Id).remove({ force: true });
  }
});

on("what is put in has to come whole: a stream that breaks off is an error and leaves nothing", async (t) => {
  await withSandbox(subject, {}, async ({ ref, say }) => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(100_000);
        throw new Error("broke off");
      })(),
    );
    await t.throwsAsync(driver.put(ref, "main", "/target", broken), { message: /broke off/ });
    t.is(await say("ls /target 2>/dev/null || echo absent"), "absent");
  });
});
