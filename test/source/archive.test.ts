import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource, openTar } from "../../activities/source/fetch.ts";
import { archiveOf, type Row, tarball } from "./archives.ts";
import { entriesOf, git, run, temporaryFolder, text, unpacked, writeFiles } from "./support.ts";

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
    [{ name: "p/extended", mtime: new Date(0), pax: { mtime: "1620839034.75" } }, "extended"],
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
  t.is(entries.get("extended")?.mtime, 1_620_839_034);
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

test("A folder of this machine is copied without its .git, and its digest is its content's", async (t) => {
  const folder = await temporaryFolder(t);
  const state = join(await temporaryFolder(t), 'a: "b\\c", é');
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
