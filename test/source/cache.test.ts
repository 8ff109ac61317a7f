import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { buffer, text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import test, { type ExecutionContext } from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource, openTar } from "../../activities/source/fetch.ts";
import type { GivenOptions } from "../../activities/source/options.ts";
import type { Source } from "../../benchmarks/schema.ts";
import { gitSource, makeRepository, mirrored, run, serve, temporaryFolder, writeFiles } from "./support.ts";

const SCRIPT = fileURLToPath(new URL("fetch-once.ts", import.meta.url));

function start(
  source: Source,
  options: GivenOptions,
  environment: Record<string, string> = {},
): ChildProcess {
  const args = [SCRIPT, JSON.stringify(source), JSON.stringify(options)];
  return spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function outcome(
  child: ChildProcess,
): Promise<{ digest?: string; cached?: boolean; failure?: string }> {
  const output = child.stdout ? await textOf(child.stdout) : "";
  return JSON.parse(output || "{}");
}

async function archive(t: ExecutionContext): Promise<{ bytes: Buffer; sha256: string }> {
  const folder = await temporaryFolder(t);
  await writeFiles(folder, { "p/a.txt": "a" });
  await run("tar", ["-czf", "a.tar.gz", "p"], { cwd: folder });
  const bytes = await readFile(join(folder, "a.tar.gz"));
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

test("Six processes that want the same source share one fetch", async (t) => {
  const { bytes, sha256 } = await archive(t);
  const state = await temporaryFolder(t);
  let requests = 0;
  const address = await serve(t, async (_request, response) => {
    requests += 1;
    await sleep(1_500);
    response.end(bytes);
  });
  const source = { kind: "archive", url: `${address}/a`, sha256 } as const;
  const children = Array.from({ length: 6 }, () => start(source, { stateFolder: state }));
  const outcomes = await Promise.all(children.map(outcome));
  t.is(requests, 1);
  t.is(new Set(outcomes.map(({ digest }) => digest)).size, 1);
  t.is(outcomes.filter(({ cached }) => cached === false).length, 1);
});

test("Fetches of one process that want the same source share it too, and those who waited share a failure", async (t) => {
  const state = await temporaryFolder(t);
  let requests = 0;
  const address = await serve(t, async (_request, response) => {
    requests += 1;
    await sleep(300);
    response.writeHead(404).end();
  });
  const source = { kind: "archive", url: `${address}/a`, sha256: "0".repeat(64) } as const;
  const attempts = Array.from({ length: 5 }, () => fetchSource(source, { stateFolder: state }));
  for (const result of await Promise.allSettled(attempts)) {
    t.is(result.status === "rejected" ? (result.reason as CausedError).failure : null, "source_vanished");
  }
  t.is(requests, 1);
  await t.throwsAsync(fetchSource(source, { stateFolder: state }), { instanceOf: CausedError });
  t.is(requests, 2, "a later fetch tries again");
});

test("A fetch killed in the middle is taken over by the one that waits, and leaves nothing", async (t) => {
  const { bytes, sha256 } = await archive(t);
  const state = await temporaryFolder(t);
  const server: { first: (() => void) | null; requests: number } = { first: null, requests: 0 };
  const arrived = new Promise<void>((resolve) => {
    server.first = resolve;
  });
  const address = await serve(t, (_request, response) => {
    server.requests += 1;
    if (server.requests > 1) return response.end(bytes);
    response.write(bytes.subarray(0, 20));
    return server.first?.();
  });
  const source = { kind: "archive", url: `${address}/a`, sha256 } as const;
  const victim = start(source, { stateFolder: state });
  await arrived;
  const heir = start(source, { stateFolder: state });
  await sleep(300);
  t.is((await readdir(join(state, "sources/staging"))).length, 1);
  victim.kill("SIGKILL");
  await once(victim, "close");
  t.is((await outcome(heir)).cached, false);
  t.is(server.requests, 2);
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
});

test("A git fetch killed in the middle does not keep the next one from working", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(mirror, "a", { "a.txt": "a" });
  let asked: (() => void) | null = null;
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const address = await serve(t, () => asked?.());
  const source = gitSource("a", pinned);
  const mirrors = [{ match: "^https://code\\.example", replace: address }];
  const victim = start(source, { stateFolder: state, mirrors });
  await arrived;
  victim.kill("SIGKILL");
  await once(victim, "close");
  const fetched = await fetchSource(source, mirrored(state, mirror));
  t.is(fetched.revision, pinned);
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
});

test("What is in the cache is not fetched again, and survives its source", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(mirror, "a", { "a.txt": "a" });
  const first = await fetchSource(gitSource("a", pinned), mirrored(state, mirror));
  await rm(join(mirror, "a"), { recursive: true });
  t.deepEqual(await fetchSource(gitSource("a", pinned), mirrored(state, mirror)), { ...first, cached: true });
});

test("A damaged cache entry fails the stream, is dropped and fetched anew; a cut one is fetched at once", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(mirror, "a", { "a.txt": "a" });
  const fetchIt = () => fetchSource(gitSource("a", pinned), mirrored(state, mirror));
  const ref = await fetchIt();
  const tar = join(state, "sources/entries", ref.digest.slice(0, 2), ref.digest, "repository.tar");
  const whole = await readFile(tar);
  const damaged = Buffer.from(whole);
  damaged[1000] = 88;
  await writeFile(tar, damaged);
  const error = await t.throwsAsync(async () => buffer(await openTar(state, ref)), {
    instanceOf: CausedError,
  });
  t.is(error?.failure, "source_unavailable");
  t.is((await fetchIt()).cached, false);
  t.true((await buffer(await openTar(state, ref))).equals(whole));
  await truncate(tar, 100);
  t.is((await fetchIt()).cached, false);
  t.true((await buffer(await openTar(state, ref))).equals(whole));
});

test("A source that is not in the cache says so", async (t) => {
  const state = await temporaryFolder(t);
  const ref = { digest: "0".repeat(64), revision: null, bytes: 1 };
  const error = await t.throwsAsync(openTar(state, ref), { instanceOf: CausedError });
  t.regex(error?.message ?? "", /not in this machine's cache; fetch it again/);
});

test("Downloads go through the proxy that the environment names", async (t) => {
  const { bytes, sha256 } = await archive(t);
  const state = await temporaryFolder(t);
  const origin = await serve(t, (_request, response) => response.end(bytes));
  const asked: string[] = [];
  const proxy: Server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(bytes);
  });
  proxy.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    const { port } = new URL(origin);
    const onward = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as { port: number };
  const source = { kind: "archive", url: "http://files.invalid/a", sha256 } as const;
  const address = `http://127.0.0.1:${port}`;
  const environment = { HTTP_PROXY: address, http_proxy: address, NO_PROXY: "", no_proxy: "" };
  t.is((await outcome(start(source, { stateFolder: state }, environment))).cached, false);
  t.true(asked.some((url) => url.includes("files.invalid")));
});
