import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import test, { type ExecutionContext } from "ava";
import { pack } from "tar-stream";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource, openTar } from "../../activities/source/fetch.ts";
import type { GivenOptions } from "../../activities/source/options.ts";
import { entriesOf, git, run, temporaryFolder, text, unpacked, writeFiles } from "./support.ts";

type Row = [Partial<Parameters<ReturnType<typeof pack>["entry"]>[0]> & { name: string }, (string | Buffer)?];

async function tarball(rows: Row[]): Promise<Buffer> {
  const tar = pack();
  for (const [header, content] of rows)
    tar.entry({ mtime: new Date(1_600_000_000_000), ...header }, content ?? "");
  tar.finalize();
  return gzipSync(await buffer(tar as unknown as AsyncIterable<Uint8Array>));
}

/** An archive source served by a mirror rule, with the sha256 of these bytes. */
async function archiveOf(t: ExecutionContext, bytes: Buffer, more: Partial<GivenOptions> = {}) {
  const [folder, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writeFile(join(folder, "a"), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const source = { kind: "archive", url: "https://files.example/a", sha256 } as const;
  const options: GivenOptions = {
    stateFolder: state,
    mirrors: [{ match: "^https://files\\.example", replace: folder }],
    ...more,
  };
  return { source, options, state };
}

async function refused(t: ExecutionContext, bytes: Buffer, more: Partial<GivenOptions> = {}) {
  const { source, options, state } = await archiveOf(t, bytes, more);
  const error = await t.throwsAsync(fetchSource(source, options), { instanceOf: CausedError });
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
  return error;
}

for (const [kind, command] of [
  ["tar.gz", "tar -czf ../out ."],
  ["tar.bz2", "tar -cjf ../out ."],
  ["tar.xz", "tar -cJf ../out ."],
  ["tar", "tar -cf ../out ."],
  ["old tar", "tar --format=v7 -czf ../out ."],
  ["pax tar", "tar --format=pax -czf ../out ."],
  ["zip", "python3 -m zipfile -c ../out pkg-1.0"],
  ["zip of Info-ZIP", "zip -qry ../out.zip . && mv ../out.zip ../out"],
]) {
  test(`A ${kind} archive is unpacked without its top folder`, async (t) => {
    const folder = await temporaryFolder(t);
    const long = `${"long/".repeat(25)}name.txt`;
    const names = kind === "old tar" ? { "pkg-1.0/short.txt": "x" } : { [`pkg-1.0/${long}`]: "x" };
    await writeFiles(join(folder, "in"), {
      "pkg-1.0/setup.py": "import setuptools\n",
      "pkg-1.0/empty": "",
      ...names,
    });
    await run("bash", ["-c", command ?? ""], { cwd: join(folder, "in") });
    const { source, options } = await archiveOf(t, await readFile(join(folder, "out")));
    const tree = await unpacked(t, source, options);
    t.is(await text(tree, "setup.py"), "import setuptools\n");
    t.is(await text(tree, kind === "old tar" ? "short.txt" : long), "x");
    t.is(await git(tree, "status", "--porcelain"), "");
    t.is(await git(tree, "branch", "--show-current"), "main");
    t.is(await git(tree, "tag", "--list"), "");
  });
}

test("The synthetic commit has every file's very bytes, ignored and attributed ones too", async (t) => {
  const files = {
    "p/.gitignore": "*.py\nbuild/\n",
    "p/.gitattributes": "*.txt text eol=crlf ident\n*.u text working-tree-encoding=UTF-16\n",
    "p/a.py": "x = 1\r\n",
    "p/b.txt": "$Id$\r\nmixed\n",
    "p/c.u": "not utf-16",
    "p/build/d": "ignored",
  };
  const rows = Object.entries(files).map(([name, content]): Row => [{ name }, content]);
  const { source, options } = await archiveOf(t, await tarball(rows));
  const tree = await unpacked(t, source, options);
  t.is(await git(tree, "status", "--porcelain", "--ignored"), "");
  for (const [name, content] of Object.entries(files)) {
    const { stdout } = await run("git", ["-C", tree, "show", `HEAD:${name.slice(2)}`]);
    t.is(stdout, content, name);
    t.is(await text(tree, name.slice(2)), content, name);
  }
});

test("The same archive gives the same bytes; files keep their times, within what a wheel can hold", async (t) => {
  const bytes = await tarball([
    [{ name: "p/a", mode: 0o4777 }, "a"],
    [{ name: "p/old", mtime: new Date(0) }, "old"],
    [{ name: "p/empty/", type: "directory" }],
  ]);
  const [one, two] = [await archiveOf(t, bytes), await archiveOf(t, bytes)];
  const [first, second] = [
    await fetchSource(one.source, one.options),
    await fetchSource(two.source, two.options),
  ];
  t.is(first.digest, second.digest);
  const [left, right] = [await openTar(one.state, first), await openTar(two.state, second)];
  t.true((await buffer(left)).equals(await buffer(right)));
  const entries = await entriesOf(one.state, first);
  t.is(entries.get("a")?.mtime, 1_600_000_000);
  t.is(entries.get("a")?.mode, 0o755);
  t.is(entries.get("old")?.mtime, Date.UTC(1980, 0, 2) / 1000);
  t.is(entries.get("empty")?.type, "directory");
});

test("An archive of several top entries is taken as it is", async (t) => {
  const { source, options, state } = await archiveOf(
    t,
    await tarball([
      [{ name: "a/x" }, "1"],
      [{ name: "b" }, "2"],
    ]),
  );
  const names = [...(await entriesOf(state, await fetchSource(source, options))).keys()];
  t.deepEqual(
    names.filter((name) => name !== "" && !name.startsWith(".git")),
    ["a", "a/x", "b"],
  );
});

test("Paths that leave the tree and special files are refused", async (t) => {
  const hostile: Row[][] = [
    [[{ name: "/etc/passwd" }, "x"]],
    [[{ name: "p/../../x" }, "x"]],
    [[{ name: "..", type: "directory" }]],
    [[{ name: "p/dev", type: "character-device" }]],
    [[{ name: "p/pipe", type: "fifo" }]],
    [[{ name: "p/link", type: "symlink", linkname: "/tmp" }], [{ name: "p/link/x" }, "x"]],
    [
      [{ name: "p/a" }, "x"],
      [{ name: "p/a/b" }, "x"],
    ],
    [[{ name: "p/", type: "directory" }]],
    [[{ name: "p/a", type: "link", linkname: "../../etc/passwd" }]],
  ];
  for (const rows of hostile) {
    const error = await refused(t, await tarball(rows));
    t.is(error?.failure, "source_mismatch", JSON.stringify(rows));
  }
});

test("Links that leave the tree are dropped with a note, alone or in a chain; those inside stay", async (t) => {
  const link = (name: string, linkname: string): Row => [{ name: `p/${name}`, type: "symlink", linkname }];
  const rows = [
    [{ name: "p/d/e/file" }, "x"] as Row,
    link("inside", "d/e/file"),
    link("d/up", "../d/e"),
    link("dangling", "nothing/here"),
    link("absolute", "/etc/passwd"),
    link("outside", "d/../../x"),
    link("root", "."),
    link("chain", "root/d/../../.."),
    link("trick", "root/d/../.."),
    [{ name: "p/hard", type: "link", linkname: "p/d/e/file" }] as Row,
    [{ name: "p/lost", type: "link", linkname: "p/nothing" }] as Row,
  ];
  const { source, options, state } = await archiveOf(t, await tarball(rows));
  const fetched = await fetchSource(source, options);
  const entries = await entriesOf(state, fetched);
  t.is(entries.get("inside")?.link, "d/e/file");
  t.is(entries.get("d/up")?.link, "../d/e");
  t.is(entries.get("dangling")?.link, "nothing/here");
  t.is(entries.get("hard")?.content.toString(), "x");
  for (const name of ["absolute", "outside", "chain", "trick", "lost"]) t.false(entries.has(name), name);
  t.is(fetched.notes.length, 5);
});

test("A planted .git is not taken over, in whatever case it is written", async (t) => {
  const config = "[core]\n\tfsmonitor = touch /tmp/sprung\n";
  const rows: Row[] = [
    [{ name: "p/a" }, "a"],
    [{ name: "p/.git/config" }, config],
    [{ name: "p/sub/.GIT/config" }, config],
    [{ name: "p/sub/.git" }, "gitdir: /tmp"],
  ];
  const { source, options, state } = await archiveOf(t, await tarball(rows));
  const fetched = await fetchSource(source, options);
  const entries = await entriesOf(state, fetched);
  t.notRegex(entries.get(".git/config")?.content.toString() ?? "", /fsmonitor/);
  t.false([...entries.keys()].some((name) => /^sub\/\.git/i.test(name)));
  t.is(fetched.notes.length, 3);
});

test("Archives that unpack to too much or to too many files are refused", async (t) => {
  const zeros = await tarball([[{ name: "p/zeros" }, Buffer.alloc(20_000_000)]]);
  t.is((await refused(t, zeros, { maxUnpackedBytes: 1_000_000 }))?.failure, "source_too_large");
  const many = await tarball(Array.from({ length: 50 }, (_, index): Row => [{ name: `p/${index}` }, ""]));
  t.is((await refused(t, many, { maxFiles: 40 }))?.failure, "source_too_large");
  const copies = Array.from(
    { length: 50 },
    (_, index): Row => [{ name: `p/l${index}`, type: "link", linkname: "p/a" }],
  );
  const linked = await tarball([[{ name: "p/a" }, Buffer.alloc(100_000)], ...copies]);
  t.is((await refused(t, linked, { maxUnpackedBytes: 1_000_000 }))?.failure, "source_too_large");
});

test("A zip bomb, a zip with a path that leaves and one with a link that leaves", async (t) => {
  const folder = await temporaryFolder(t);
  const script = `
import zipfile, sys
z = zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED); z.writestr("p/zeros", b"\\0" * 20000000); z.close()
z = zipfile.ZipFile("leave.zip", "w"); z.writestr("../../x", b"x"); z.close()
z = zipfile.ZipFile("link.zip", "w"); z.writestr("p/a", b"a")
i = zipfile.ZipInfo("p/out"); i.create_system = 3; i.external_attr = 0o120777 << 16; z.writestr(i, "/etc/passwd")
i = zipfile.ZipInfo("p/in"); i.create_system = 3; i.external_attr = 0o120777 << 16; z.writestr(i, "a"); z.close()
`;
  await run("python3", ["-c", script], { cwd: folder });
  const bytes = (name: string) => readFile(join(folder, name));
  t.is(
    (await refused(t, await bytes("bomb.zip"), { maxUnpackedBytes: 1_000_000 }))?.failure,
    "source_too_large",
  );
  t.is((await refused(t, await bytes("leave.zip")))?.failure, "source_mismatch");
  const { source, options, state } = await archiveOf(t, await bytes("link.zip"));
  const entries = await entriesOf(state, await fetchSource(source, options));
  t.is(entries.get("in")?.link, "a");
  t.false(entries.has("out"));
});

test("Damaged and unknown archives are source_mismatch, as is one with another sha256", async (t) => {
  const whole = await tarball([[{ name: "p/a" }, Buffer.alloc(100_000, "x")]]);
  for (const bytes of [Buffer.from("neither"), whole.subarray(0, 60), gzipSync("not a tar file at all")]) {
    t.is((await refused(t, bytes))?.failure, "source_mismatch");
  }
  const { source, options } = await archiveOf(t, whole);
  const other = { ...source, sha256: "0".repeat(64) };
  const error = await t.throwsAsync(fetchSource(other, options), { instanceOf: CausedError });
  t.is(error?.failure, "source_mismatch");
  t.regex(error?.message ?? "", /has sha256 [0-9a-f]{64}, the suite 0{64}/);
});

test("A folder of this machine is copied without its .git, and its digest is its content's", async (t) => {
  const [folder, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writeFiles(folder, { "a.txt": "a", ".git/config": "[core]\n", "sub/b.txt": "b" });
  await mkdir(join(folder, "empty"));
  await run("ln", ["-s", "/etc/passwd", join(folder, "out")]);
  await run("mkfifo", [join(folder, "pipe")]);
  const source = { kind: "directory", path: folder } as const;
  const first = await fetchSource(source, { stateFolder: state });
  t.is(first.notes.length, 3);
  t.is((await entriesOf(state, first)).get("sub/b.txt")?.content.toString(), "b");
  await run("touch", [join(folder, "a.txt")]);
  t.is((await fetchSource(source, { stateFolder: state })).digest, first.digest);
  await writeFiles(folder, { "a.txt": "changed" });
  t.not((await fetchSource(source, { stateFolder: state })).digest, first.digest);
  const gone = { kind: "directory", path: join(folder, "nowhere") } as const;
  const error = await t.throwsAsync(fetchSource(gone, { stateFolder: state }), { instanceOf: CausedError });
  t.is(error?.failure, "source_vanished");
});
