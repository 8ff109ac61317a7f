import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource } from "../../activities/source/fetch.ts";
import { archiveOf, type Row, refused, tarball } from "./archives.ts";
import { entriesOf, run, temporaryFolder } from "./support.ts";

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
