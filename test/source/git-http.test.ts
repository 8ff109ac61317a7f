import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource } from "../../activities/source/fetch.ts";
import { gitFailure } from "../../activities/source/git-failures.ts";
import { commit, entriesOf, git, makeRepository, run, serve, temporaryFolder, unpacked } from "./support.ts";

/** git's own HTTP server program. `version` says whether clients may ask for a newer protocol than the first. */
function smartServer(folder: string, version: "first" | "newest", asked: string[] = []): RequestListener {
  return (request, response) => {
    asked.push(request.url ?? "");
    const [path, query = ""] = (request.url ?? "").split("?");
    const backend = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        ...(version === "newest" ? { GIT_PROTOCOL: String(request.headers["git-protocol"] ?? "") } : {}),
      },
    });
    request.pipe(backend.stdin);
    answer(backend.stdout, response).catch((error: Error) => response.destroy(error));
  };
}

async function answer(cgi: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of cgi) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  const end = whole.indexOf("\r\n\r\n");
  const headers = whole
    .toString("latin1", 0, end)
    .split("\r\n")
    .map((line) => line.split(/: */, 2) as [string, string]);
  const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
  response.writeHead(
    Number.parseInt(status, 10),
    Object.fromEntries(headers.filter(([name]) => name !== "Status")),
  );
  response.end(whole.subarray(end + 4));
}

/** Plain files, as any web server has them. */
function dumbServer(folder: string): RequestListener {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const path = join(folder, (request.url ?? "").split("?")[0] ?? "");
    const found = await stat(path).then(
      (stats) => stats.isFile(),
      () => false,
    );
    if (found) createReadStream(path).pipe(response);
    else response.writeHead(404).end();
  };
}

test("A server of the newest protocol hands out the commit at depth 1, and its answer about a missing one is final", async (t) => {
  const [folder, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(folder, "a", { "a.txt": "one" });
  const pinned = await commit(join(folder, "a"), { "a.txt": "two" });
  await commit(join(folder, "a"), { "a.txt": "three" });
  const asked: string[] = [];
  const address = await serve(t, smartServer(folder, "newest", asked));
  const source = (revision: string) => ({ kind: "git", repository: `${address}/a/.git`, revision }) as const;
  const fetched = await fetchSource(source(pinned), { stateFolder: state });
  t.is((await entriesOf(state, fetched)).get("a.txt")?.content.toString(), "two");
  const missing = fetchSource(source("b".repeat(40)), { stateFolder: state });
  const error = await t.throwsAsync(missing, { instanceOf: CausedError });
  t.is(error?.failure, "source_vanished");
  t.regex(error?.message ?? "", /not our ref/);
});

test("From a server that only hands out what branches and tags name, everything is fetched and one commit delivered", async (t) => {
  const [folder, one, two] = [await temporaryFolder(t), await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(folder, "a", { "a.txt": "one" });
  const pinned = await commit(join(folder, "a"), { "a.txt": "two" });
  await git(join(folder, "a"), "tag", "-a", "-m", "x", "v2");
  await commit(join(folder, "a"), { "a.txt": "three" });
  const address = await serve(t, smartServer(folder, "first"));
  const repository = `${address}/a/.git`;
  const source = { kind: "git", repository, revision: pinned } as const;
  const tree = await unpacked(t, source, { stateFolder: one });
  t.is(await git(tree, "describe"), "v2");
  t.is(await git(tree, "rev-list", "--count", "--all"), "1");
  t.is(await git(tree, "status", "--porcelain"), "");
  // The way it was fetched does not show in the bytes.
  const mirrors = [{ match: "^http://127\\.0\\.0\\.1:\\d+", replace: folder }];
  const [old, other] = [
    await fetchSource(source, { stateFolder: one }),
    await fetchSource(source, { stateFolder: two, mirrors }),
  ];
  t.deepEqual(await entriesOf(two, other), await entriesOf(one, old));
  const gone = { ...source, revision: "b".repeat(40) };
  const error = await t.throwsAsync(fetchSource(gone, { stateFolder: one }), { instanceOf: CausedError });
  t.is(error?.failure, "source_vanished");
});

test("A plain file server will do", async (t) => {
  const [folder, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(folder, "a", { "a.txt": "one" });
  const pinned = await commit(join(folder, "a"), { "a.txt": "two" });
  await commit(join(folder, "a"), { "a.txt": "three" });
  await git(join(folder, "a"), "update-server-info");
  const address = await serve(t, dumbServer(folder));
  const source = { kind: "git", repository: `${address}/a/.git`, revision: pinned } as const;
  const fetched = await fetchSource(source, { stateFolder: state });
  t.is((await entriesOf(state, fetched)).get("a.txt")?.content.toString(), "two");
  const nowhere = fetchSource({ ...source, repository: `${address}/b/.git` }, { stateFolder: state });
  const error = await t.throwsAsync(nowhere, { instanceOf: CausedError });
  t.is(error?.failure, "source_vanished", error?.message);
});

test("A server in trouble, one that asks for a password, and no server at all", async (t) => {
  const state = await temporaryFolder(t);
  const status =
    (code: number): RequestListener =>
    (_request, response) =>
      response.writeHead(code, { "www-authenticate": 'Basic realm="x"' }).end();
  const causes: [string, string][] = [
    [await serve(t, status(503)), "source_unavailable"],
    [await serve(t, status(429)), "source_unavailable"],
    [await serve(t, status(401)), "source_vanished"],
    [await serve(t, status(404)), "source_vanished"],
    ["http://127.0.0.1:1", "source_unavailable"],
    ["http://nowhere.invalid", "source_unavailable"],
  ];
  for (const [address, cause] of causes) {
    const source = { kind: "git", repository: `${address}/a`, revision: "a".repeat(40) } as const;
    const error = await t.throwsAsync(fetchSource(source, { stateFolder: state }), {
      instanceOf: CausedError,
    });
    t.is(error?.failure, cause as never, error?.message);
    t.false(error?.message.includes("\n"));
  }
});

test("A name and password in an address are neither told nor kept", async (t) => {
  const [folder, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(folder, "a", { "a.txt": "" });
  const address = (await serve(t, smartServer(folder, "newest"))).replace("//", "//me:sesame@");
  const repository = `${address}/a/.git`;
  const tree = await unpacked(t, { kind: "git", repository, revision: pinned }, { stateFolder: state });
  for (const place of [tree, join(state, "sources")]) {
    const found = await run("grep", ["-r", "sesame", place]).catch((error: { code: number }) => error.code);
    t.is(found, 1, "grep finds nothing");
  }
  const gone = { kind: "git", repository: `${address}/b`, revision: pinned } as const;
  const error = await t.throwsAsync(fetchSource(gone, { stateFolder: state }), { instanceOf: CausedError });
  t.notRegex(error?.message ?? "", /sesame/);
  await rm(tree, { recursive: true });
});

test("git's messages decide the cause", (t) => {
  const messages: [string, string][] = [
    [
      "remote: Repository not found.\nfatal: repository 'https://github.com/a/b/' not found",
      "source_vanished",
    ],
    ["fatal: could not read Username for 'https://github.com': terminal prompts disabled", "source_vanished"],
    ["fatal: remote error: upload-pack: not our ref 0123", "source_vanished"],
    ["fatal: unable to access 'https://x/': The requested URL returned error: 451", "source_vanished"],
    ["fatal: unable to access 'https://x/': The requested URL returned error: 502", "source_unavailable"],
    ["fatal: unable to access 'https://x/': Could not resolve host: x", "source_unavailable"],
    ["fatal: unable to access 'https://x/': CONNECT tunnel failed, response 404", "source_unavailable"],
    ["error: RPC failed; curl 18 transfer closed\nfatal: early EOF", "source_unavailable"],
    ["fatal: write error: No space left on device", "source_unavailable"],
    ["", "source_unavailable"],
  ];
  for (const [stderr, cause] of messages) {
    const failure = gitFailure("x", ["fetch"], { exit: 128, stdout: Buffer.alloc(0), stderr });
    t.is(failure.failure, cause as never, stderr);
  }
});
