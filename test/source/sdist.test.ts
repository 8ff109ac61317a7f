import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource } from "../../activities/source/fetch.ts";
import { filesOfHtml } from "../../activities/source/sdist.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { entriesOf, git, run, serve, temporaryFolder, unpacked, writeFiles } from "./support.ts";

const FILE = "Some.Project-1.2.tar.gz";

async function sdist(t: ExecutionContext): Promise<{ bytes: Buffer; sha256: string }> {
  const folder = await temporaryFolder(t);
  await writeFiles(folder, { "Some.Project-1.2/setup.py": "raise SystemExit('never run')\n" });
  await run("tar", ["-czf", FILE, "Some.Project-1.2"], { cwd: folder });
  const bytes = await readFile(join(folder, FILE));
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function source(sha256: string) {
  return { kind: "sdist", name: "Some.Project", version: "1.2", file: FILE, sha256 } as const;
}

/** An index that answers in JSON or HTML and holds the one file. */
function index(
  kind: "json" | "html",
  bytes: Buffer,
  listed: string | null,
  seen: string[] = [],
): RequestListener {
  return (request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? ""}`.trim());
    const url = `../../files/${FILE}`;
    if (request.url === "/simple/some-project/") {
      const hashes = listed === null ? {} : { sha256: listed };
      const json = JSON.stringify({ files: [{ filename: FILE, url, hashes }] });
      const html = `<html><body><a href="${url}${listed === null ? "" : `#sha256=${listed}`}">${FILE}</a></body></html>`;
      const type = kind === "json" ? "application/vnd.pypi.simple.v1+json" : "text/html";
      response.writeHead(200, { "content-type": type }).end(kind === "json" ? json : html);
    } else if (request.url === `/files/${FILE}`) {
      response.writeHead(302, { location: "/elsewhere" }).end();
    } else if (request.url === "/elsewhere") response.end(bytes);
    else response.writeHead(404).end();
  };
}

for (const kind of ["json", "html"] as const) {
  test(`A release is found through an index that answers in ${kind}, and tagged with its version`, async (t) => {
    const { bytes, sha256 } = await sdist(t);
    const state = await temporaryFolder(t);
    const address = await serve(t, index(kind, bytes, kind === "json" ? sha256 : null));
    const tree = await unpacked(t, source(sha256), { stateFolder: state, index: `${address}/simple/` });
    t.is(await git(tree, "describe"), "v1.2");
    t.is(
      await git(tree, "describe", "--tags", "--dirty", "--long"),
      (await git(tree, "describe", "--long")).trim(),
    );
    t.is(await git(tree, "ls-files"), "setup.py");
    t.is(await git(tree, "log", "--format=%an %aI"), "setup-bench 2000-01-01T00:00:00+00:00");
  });
}

test("A mirror rule leads the index elsewhere, and a name and password are sent but not told", async (t) => {
  const { bytes, sha256 } = await sdist(t);
  const state = await temporaryFolder(t);
  const seen: string[] = [];
  const address = (await serve(t, index("json", bytes, sha256, seen))).replace("//", "//me:open%20sesame@");
  const options = { stateFolder: state, mirrors: [{ match: "^https://pypi\\.org", replace: address }] };
  t.is((await fetchSource(source(sha256), options)).revision, "1.2");
  const basic = `Basic ${Buffer.from("me:open sesame").toString("base64")}`;
  t.is(seen[0], `/simple/some-project/ ${basic}`);
  const gone = { ...source("0".repeat(64)), name: "gone" };
  const error = await t.throwsAsync(fetchSource(gone, options), { instanceOf: CausedError });
  t.notRegex(error?.message ?? "", /sesame/);
});

test("A missing project and a missing file are source_vanished, another sha256 is source_mismatch", async (t) => {
  const { bytes, sha256 } = await sdist(t);
  const state = await temporaryFolder(t);
  const listed = { stateFolder: state, index: `${await serve(t, index("json", bytes, sha256))}/simple` };
  const unlisted = { stateFolder: state, index: `${await serve(t, index("json", bytes, null))}/simple` };
  const failure = async (
    wanted: Parameters<typeof fetchSource>[0],
    options: Parameters<typeof fetchSource>[1],
  ) => (await t.throwsAsync(fetchSource(wanted, options), { instanceOf: CausedError }))?.failure;
  t.is(await failure({ ...source(sha256), name: "other" }, listed), "source_vanished");
  t.is(await failure({ ...source(sha256), file: "other-1.tar.gz" }, listed), "source_vanished");
  t.is(await failure(source("0".repeat(64)), listed), "source_mismatch");
  t.is(await failure(source("1".repeat(64)), unlisted), "source_mismatch");
  t.is(
    await failure(source(sha256), { stateFolder: state, index: "http://127.0.0.1:1/simple" }),
    "source_unavailable",
  );
});

test("Anchors of an HTML index are read with their entities, quotes and missing hashes", (t) => {
  const hash = "a".repeat(64);
  const html = `<a href="x/a-1.tar.gz?b=1&amp;c=2#sha256=${hash}" data-requires-python="&gt;=3">a-1.tar.gz</a>
    <A class='x' HREF='b.zip' >b.zip </A>`;
  t.deepEqual(filesOfHtml(html), [
    { name: "a-1.tar.gz", url: "x/a-1.tar.gz?b=1&c=2", sha256: hash },
    { name: "b.zip", url: "b.zip", sha256: null },
  ]);
});

test("A release of pypi-sdist comes from the real index", async (t) => {
  const { suite } = await loadSuite("pypi-sdist");
  const task = suite.tasks.find(({ id }) => id === "pluggy");
  const state = await temporaryFolder(t);
  if (task === undefined) return t.fail("pluggy is not in the suite");
  const fetched = await fetchSource(task.source, { stateFolder: state });
  const entries = await entriesOf(state, fetched);
  t.true(entries.has("pyproject.toml"));
  t.regex(entries.get(".git/packed-refs")?.content.toString() ?? "", /refs\/tags\/v1\.7\.0/);
});
