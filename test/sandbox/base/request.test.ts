import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { parseBaseRequest } from "../../../activities/sandbox/base/prepare.ts";
import { UsageError } from "../../../benchmarks/usage-error.ts";

const folder = await mkdtemp(join(tmpdir(), "request-test-"));
const layout = join(folder, "layout");
const archive = join(folder, "root.tar.zst");
await mkdir(layout);
await writeFile(join(layout, "oci-layout"), "{}");
await writeFile(archive, "");

test.after.always(() => rm(folder, { recursive: true }));

test("debian is the made base", (t) => t.deepEqual(parseBaseRequest("debian"), { kind: "debian" }));

test("paths that exist are folders, layouts or tars", (t) => {
  t.deepEqual(parseBaseRequest(folder), { kind: "directory", path: folder });
  t.deepEqual(parseBaseRequest(layout), { kind: "oci", path: layout, name: null });
  t.deepEqual(parseBaseRequest(archive), { kind: "tar", path: archive });
});

test("archives are told apart by their prefix and may name one image", (t) => {
  t.deepEqual(parseBaseRequest(`oci:${layout}`), { kind: "oci", path: layout, name: null });
  t.deepEqual(parseBaseRequest(`oci-archive:${archive}:v1`), { kind: "oci", path: archive, name: "v1" });
  t.deepEqual(parseBaseRequest(`docker-archive:${archive}:a/b:c`), {
    kind: "docker-archive",
    path: archive,
    name: "a/b:c",
  });
});

for (const reference of [
  "ubuntu",
  "ubuntu:22.04",
  "docker:27-cli",
  "python:3.12-bookworm",
  "ghcr.io/owner/name:tag",
  `registry.example:5000/a/b_c/d@sha256:${"0".repeat(64)}`,
  "localhost/name",
]) {
  test(`${reference} is an image`, (t) =>
    t.deepEqual(parseBaseRequest(reference), { kind: "image", reference }));
}

test("docker:// says image", (t) => {
  t.deepEqual(parseBaseRequest("docker://debian:12"), { kind: "image", reference: "debian:12" });
});

for (const wrong of [
  "",
  "./absent",
  "/no/such/folder",
  "absent.tar.gz",
  "oci:/no/such",
  "Upper:Case",
  "a b",
  "x@sha256:12",
]) {
  test(`"${wrong}" is refused in one line with the forms there are`, (t) => {
    const error = t.throws(() => parseBaseRequest(wrong), { instanceOf: UsageError });
    t.regex(error.message, /^base: .*Remedy: give debian, a folder/);
    t.notRegex(error.message, /\n/);
  });
}
