import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource } from "../../activities/source/fetch.ts";
import type { GivenOptions } from "../../activities/source/options.ts";
import { gitSource, makeRepository, mirrored, serve, temporaryFolder } from "./support.ts";

async function refused(
  t: ExecutionContext,
  files: Record<string, string | Buffer>,
  limit: Partial<GivenOptions>,
) {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(mirror, "a", files);
  const source = gitSource("a", pinned);
  const error = await t.throwsAsync(fetchSource(source, mirrored(state, mirror, limit)), {
    instanceOf: CausedError,
  });
  t.deepEqual(await readdir(join(state, "sources/staging")), [], "nothing is left behind");
  return error;
}

test("A repository over the ceiling on received bytes is source_too_large", async (t) => {
  const error = await refused(t, { "big.bin": randomBytes(3_000_000) }, { maxBytes: 1_000_000 });
  t.is(error?.failure, "source_too_large");
  t.regex(error?.message ?? "", /ceiling of 1000000 received bytes/);
});

test("A small pack that unpacks to much is refused before it does", async (t) => {
  const error = await refused(t, { "zeros.bin": Buffer.alloc(20_000_000) }, { maxUnpackedBytes: 10_000_000 });
  t.is(error?.failure, "source_too_large");
  t.regex(error?.message ?? "", /unpacked bytes/);
});

test("A repository of too many files is refused", async (t) => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, ""]));
  const error = await refused(t, files, { maxFiles: 20 });
  t.is(error?.failure, "source_too_large");
});

test("A server that sends nothing within the time limit is source_unavailable", async (t) => {
  const state = await temporaryFolder(t);
  const address = await serve(t, () => {});
  const source = { kind: "git", repository: `${address}/a`, revision: "a".repeat(40) } as const;
  const error = await t.throwsAsync(fetchSource(source, { stateFolder: state, timeoutSeconds: 1 }), {
    instanceOf: CausedError,
  });
  t.is(error?.failure, "source_unavailable");
  t.regex(error?.message ?? "", /nothing came within the limit of 1 s/);
});

test("A download that is still coming when the time is up is source_too_large", async (t) => {
  const state = await temporaryFolder(t);
  const address = await serve(t, (_request, response) => {
    const timer = setInterval(() => response.write("some bytes"), 50);
    response.on("close", () => clearInterval(timer));
  });
  const source = { kind: "archive", url: `${address}/a.tar.gz`, sha256: "a".repeat(64) } as const;
  const error = await t.throwsAsync(fetchSource(source, { stateFolder: state, timeoutSeconds: 1 }), {
    instanceOf: CausedError,
  });
  t.is(error?.failure, "source_too_large");
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
});

test("An aborted fetch throws the reason, leaves nothing behind and can be made again", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(mirror, "a", { "a.txt": "" });
  const reason = new Error("cancelled");
  const source = gitSource("a", pinned);
  const aborted = mirrored(state, mirror, { signal: AbortSignal.abort(reason) });
  t.is(await t.throwsAsync(fetchSource(source, aborted)), reason);
  const controller = new AbortController();
  const address = await serve(t, () => controller.abort(reason));
  const hanging = { stateFolder: state, mirrors: [{ match: "^https://code.example", replace: address }] };
  t.is(await t.throwsAsync(fetchSource(source, { ...hanging, signal: controller.signal })), reason);
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
  t.is((await fetchSource(source, mirrored(state, mirror))).revision, pinned);
});

test("Progress is told while a fetch runs", async (t) => {
  const state = await temporaryFolder(t);
  const seen: number[] = [];
  const address = await serve(t, (_request, response) => {
    response.write("some bytes");
    setTimeout(() => response.end(), 1_200);
  });
  const source = { kind: "archive", url: `${address}/a.tar.gz`, sha256: "a".repeat(64) } as const;
  const options = { stateFolder: state, progress: (bytes: number) => seen.push(bytes) };
  const error = await t.throwsAsync(fetchSource(source, options), { instanceOf: CausedError });
  t.is(error?.failure, "source_mismatch");
  t.true(seen.includes(10));
});
