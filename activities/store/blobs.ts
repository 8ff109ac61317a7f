import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../results/atomic-file.ts";

/** Content-addressed files: `<root>/<first two digits>/<sha256>`. Large values travel as their digest. */
export interface BlobStore {
  put(content: Buffer | string): Promise<string>;
  get(digest: string): Promise<Buffer>;
  has(digest: string): Promise<boolean>;
  path(digest: string): string;
}

export function fileBlobStore(root: string): BlobStore {
  const path = (digest: string) => {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error(`not a sha256 digest: ${digest}`);
    return join(root, digest.slice(0, 2), digest);
  };
  const has = async (digest: string) => {
    try {
      await stat(path(digest));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  };
  return {
    path,
    has,
    get: (digest) => readFile(path(digest)),
    async put(content) {
      const digest = createHash("sha256").update(content).digest("hex");
      if (!(await has(digest))) await writeFileAtomically(path(digest), content);
      return digest;
    },
  };
}
