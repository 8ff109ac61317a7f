import { chmod, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource, openTar } from "../../activities/source/fetch.ts";
import {
  commit,
  entriesOf,
  git,
  gitSource,
  makeRepository,
  mirrored,
  run,
  temporaryFolder,
  text,
  unpacked,
  writeFiles,
} from "./support.ts";

test("The pinned commit arrives alone, detached and clean, with its tags and not those of others", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const repository = join(mirror, "acme/rocket");
  await makeRepository(mirror, "acme/rocket", { "a.txt": "one" });
  await git(repository, "tag", "v0.9");
  const pinned = await commit(repository, { "a.txt": "two", "sub/b.sh": "#!/bin/sh\n" });
  await git(repository, "tag", "-a", "-m", "Release", "v1.0");
  await git(repository, "tag", "light");
  await commit(repository, { "a.txt": "three" });
  const folder = await unpacked(t, gitSource("acme/rocket", pinned), mirrored(state, mirror));
  t.is(await text(folder, "a.txt"), "two");
  t.is(await git(folder, "rev-parse", "HEAD"), pinned);
  t.is(await git(folder, "status", "--porcelain"), "");
  t.is(await git(folder, "rev-list", "--count", "HEAD"), "1");
  t.is(await git(folder, "tag", "--list"), "light\nv1.0");
  t.is(await git(folder, "describe"), "v1.0");
  t.is(await git(folder, "config", "remote.origin.url"), "https://code.example/acme/rocket");
  t.is(await git(folder, "fsck", "--strict"), "");
  await t.throwsAsync(git(folder, "symbolic-ref", "HEAD"), undefined, "HEAD is detached");
});

test("The same source has the same digest and the same tar bytes, however the server packed it", async (t) => {
  const [mirror, one, two] = [await temporaryFolder(t), await temporaryFolder(t), await temporaryFolder(t)];
  const line = "the same words again and again\n".repeat(500);
  await makeRepository(mirror, "a", { "a.txt": line, "c.txt": `${line}more` });
  const pinned = await commit(join(mirror, "a"), { "b.txt": `${line}else` });
  await git(join(mirror, "a"), "tag", "-a", "-m", "x", "v1");
  const first = await fetchSource(gitSource("a", pinned), mirrored(one, mirror));
  await git(join(mirror, "a"), "repack", "-a", "-d", "-f", "--depth=50", "--window=50");
  const second = await fetchSource(gitSource("a", pinned), mirrored(two, mirror));
  t.is(second.digest, first.digest);
  t.true((await buffer(await openTar(two, second))).equals(await buffer(await openTar(one, first))));
  t.is(first.revision, pinned);
});

test("Entries are owned by root, sorted, plain in mode and dated as the commit", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(mirror, "a", { "z.txt": "", "b/y.sh": "" });
  await chmod(join(mirror, "a/b/y.sh"), 0o755);
  await symlink("/etc/passwd", join(mirror, "a/link"));
  const pinned = await commit(join(mirror, "a"), {});
  const entries = await entriesOf(state, await fetchSource(gitSource("a", pinned), mirrored(state, mirror)));
  for (const { owner, mtime } of entries.values())
    t.deepEqual([owner, mtime], ["0:0", Date.UTC(2024, 4, 6, 7, 8, 9) / 1000]);
  t.deepEqual(
    [entries.get("z.txt")?.mode, entries.get("b/y.sh")?.mode, entries.get("b")?.mode],
    [0o644, 0o755, 0o755],
  );
  t.is(entries.get("link")?.link, "/etc/passwd");
  t.is(entries.get("link")?.type, "symlink");
  const names = [...entries.keys()].filter((name) => name !== "" && !name.startsWith(".git"));
  t.deepEqual(names, ["b", "b/y.sh", "link", "z.txt"]);
});

test("Submodules are fetched with their own, by relative address or by one for ssh", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(mirror, "acme/inner", { "inner.txt": "inner" });
  await makeRepository(mirror, "acme/middle", { "middle.txt": "middle" });
  const middle = join(mirror, "acme/middle");
  await git(middle, "submodule", "add", "--quiet", join(mirror, "acme/inner"), "in");
  await git(middle, "config", "-f", ".gitmodules", "submodule.in.url", "git@code.example:acme/inner");
  await commit(middle, {});
  await makeRepository(mirror, "acme/top", { "top.txt": "top" });
  const top = join(mirror, "acme/top");
  await git(top, "submodule", "add", "--quiet", middle, "vendor/middle");
  await git(top, "config", "-f", ".gitmodules", "submodule.vendor/middle.url", "../middle");
  const pinned = await commit(top, {});
  const folder = await unpacked(t, gitSource("acme/top", pinned), mirrored(state, mirror));
  t.is(await text(folder, "vendor/middle/middle.txt"), "middle");
  t.is(await text(folder, "vendor/middle/in/inner.txt"), "inner");
  t.is(await git(folder, "status", "--porcelain"), "");
  t.regex(
    await git(folder, "submodule", "status", "--recursive"),
    /^[0-9a-f]{40} vendor\/middle .*\n [0-9a-f]{40} vendor\/middle\/in /,
  );
});

test("A submodule that is gone leaves an empty folder and a note", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(mirror, "sub", { "s.txt": "" });
  await makeRepository(mirror, "top", { "top.txt": "top" });
  const top = join(mirror, "top");
  await git(top, "submodule", "add", "--quiet", join(mirror, "sub"), "sub");
  await git(top, "config", "-f", ".gitmodules", "submodule.sub.url", "https://code.example/gone");
  const pinned = await commit(top, {});
  const fetched = await fetchSource(gitSource("top", pinned), mirrored(state, mirror));
  t.regex(fetched.notes.join(), /submodule sub left empty: .*gone/);
  t.is((await entriesOf(state, fetched)).get("sub")?.type, "directory");
});

test("A vanished repository, a vanished commit and a missing pin are source_vanished", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const there = await makeRepository(mirror, "there", { "a.txt": "" });
  const options = mirrored(state, mirror);
  for (const source of [
    gitSource("nowhere", there),
    gitSource("there", "0123456789abcdef0123456789abcdef01234567"),
    gitSource("there", null),
  ]) {
    const error = await t.throwsAsync(fetchSource(source, options), { instanceOf: CausedError });
    t.is(error?.failure, "source_vanished", error?.message);
  }
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
});

test("A path of this machine is only fetched from where a mirror rule leads to it", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pinned = await makeRepository(mirror, "a", { "a.txt": "" });
  const source = { kind: "git", repository: `file://${mirror}/a`, revision: pinned } as const;
  const error = await t.throwsAsync(fetchSource(source, { stateFolder: state }), { instanceOf: CausedError });
  t.is(error?.failure, "source_vanished");
  t.regex(error?.message ?? "", /mirror rule/);
});

test("A submodule that names a path of this machine is not followed", async (t) => {
  const [mirror, secret, state] = [
    await temporaryFolder(t),
    await temporaryFolder(t),
    await temporaryFolder(t),
  ];
  await makeRepository(secret, "keys", { "key.txt": "secret" });
  await makeRepository(mirror, "top", { "top.txt": "top" });
  const top = join(mirror, "top");
  await git(top, "submodule", "add", "--quiet", join(secret, "keys"), "keys");
  for (const url of [join(secret, "keys"), `file://${secret}/keys`, "ext::sh -c id", "--upload-pack=id"]) {
    await git(top, "config", "-f", ".gitmodules", "submodule.keys.url", url);
    const pinned = await commit(top, {});
    const fetched = await fetchSource(gitSource("top", pinned), mirrored(state, mirror));
    t.regex(fetched.notes.join(), /submodule keys left empty/);
    t.false((await entriesOf(state, fetched)).has("keys/key.txt"));
  }
});

test.serial("Neither the user's settings nor what a repository holds runs anything", async (t) => {
  const [mirror, state, home] = [
    await temporaryFolder(t),
    await temporaryFolder(t),
    await temporaryFolder(t),
  ];
  const trap = join(home, "trap.sh");
  const sprung = join(home, "sprung");
  await writeFile(trap, `#!/bin/sh\ntouch ${sprung}\ncat\n`, { mode: 0o755 });
  const hooks = join(home, "hooks");
  const names = ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"];
  await writeFiles(hooks, Object.fromEntries(names.map((name) => [name, `#!/bin/sh\ntouch ${sprung}\n`])));
  for (const name of names) await chmod(join(hooks, name), 0o755);
  const filter = `[filter "trap"]\n\tsmudge = ${trap}\n\tclean = ${trap}\n\trequired = true\n`;
  const config = `[core]\n\thooksPath = ${hooks}\n\tfsmonitor = ${trap}\n[credential]\n\thelper = !${trap}\n${filter}`;
  await writeFiles(home, { ".gitconfig": config });
  const repository = join(mirror, "a");
  await makeRepository(mirror, "a", { "a.txt": "text", ".gitattributes": "*.txt filter=trap\n" });
  await writeFiles(repository, { ".git/hooks/post-upload-pack": `#!/bin/sh\ntouch ${sprung}\n` });
  await writeFile(join(repository, ".git/config"), `${await text(repository, ".git/config")}${config}`);
  const pinned = await git(repository, "-c", "core.fsmonitor=false", "rev-parse", "HEAD");
  const before = { ...process.env };
  Object.assign(process.env, {
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_GLOBAL: join(home, ".gitconfig"),
    GIT_DIR: repository,
  });
  try {
    const folder = await unpacked(t, gitSource("a", pinned), mirrored(state, mirror));
    t.is(await text(folder, "a.txt"), "text");
    t.false((await readdir(join(folder, ".git"))).includes("hooks"));
    t.notRegex(await text(folder, ".git/config"), /trap|fsmonitor|filter/);
    t.false((await readdir(home)).includes("sprung"));
    // The trap works: an ordinary clone springs it.
    delete process.env.GIT_DIR;
    await run("git", ["clone", "--quiet", repository, join(home, "clone")]);
    t.true((await readdir(home)).includes("sprung"));
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("LFS pointers stay pointers", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;
  const files = { ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "big.bin": pointer };
  const pinned = await makeRepository(mirror, "a", files);
  const folder = await unpacked(t, gitSource("a", pinned), mirrored(state, mirror));
  t.is(await text(folder, "big.bin"), pointer);
});

test("File names that are not UTF-8 survive", async (t) => {
  const [mirror, state] = [await temporaryFolder(t), await temporaryFolder(t)];
  await makeRepository(mirror, "a", { "a.txt": "" });
  const name = Buffer.from("caf\xe9.txt", "latin1");
  await writeFile(Buffer.concat([Buffer.from(`${mirror}/a/`), name]), "coffee");
  const pinned = await commit(join(mirror, "a"), {});
  const folder = await unpacked(t, gitSource("a", pinned), mirrored(state, mirror));
  const names = await readdir(folder, { encoding: "buffer" });
  t.true(names.some((found) => found.equals(name)));
});
