import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import type { ExecutionContext } from "ava";
import { pack } from "tar-stream";
import { CausedError } from "../../activities/errors.ts";
import { fetchSource } from "../../activities/source/fetch.ts";
import type { GivenOptions } from "../../activities/source/options.ts";
import { temporaryFolder } from "./support.ts";

export type Row = [
  Partial<Parameters<ReturnType<typeof pack>["entry"]>[0]> & { name: string },
  (string | Buffer)?,
];

export async function tarball(rows: Row[]): Promise<Buffer> {
  const tar = pack();
  for (const [header, content] of rows)
    tar.entry({ mtime: new Date(1_600_000_000_000), ...header }, content ?? "");
  tar.finalize();
  return gzipSync(await buffer(tar as unknown as AsyncIterable<Uint8Array>));
}

/** An archive source served by a mirror rule, with the sha256 of these bytes. */
export async function archiveOf(t: ExecutionContext, bytes: Buffer, more: Partial<GivenOptions> = {}) {
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

export async function refused(t: ExecutionContext, bytes: Buffer, more: Partial<GivenOptions> = {}) {
  const { source, options, state } = await archiveOf(t, bytes, more);
  const error = await t.throwsAsync(fetchSource(source, options), { instanceOf: CausedError });
  t.deepEqual(await readdir(join(state, "sources/staging")), []);
  return error;
}
