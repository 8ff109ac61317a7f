import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { AttemptKey } from "../../workflows/types.ts";
import { attemptFolder } from "./sweep-folder.ts";

/** What a system keeps of its decisions: `decisions/<name>.json` of the attempt's folder, each written once. */
export interface Notes {
  read(name: string): Promise<unknown>;
  /** The note of this name; made and written when there is none. Of two makers the first one's counts. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
}

export function notesOf(key: AttemptKey): Notes {
  const path = (name: string) => join(attemptFolder(key), "decisions", `${name}.json`);
  const read = async (name: string) => {
    try {
      return JSON.parse(await readFile(path(name), "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  };
  return {
    read,
    async once(name, make) {
      const known = await read(name);
      if (known !== null) return known;
      const note = await make();
      const draft = `${path(name)}.${randomUUID()}.draft`;
      await mkdir(join(attemptFolder(key), "decisions"), { recursive: true });
      await writeFileAtomically(draft, `${JSON.stringify(note)}\n`);
      try {
        await link(draft, path(name));
        return note;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return await read(name);
      } finally {
        await unlink(draft);
      }
    },
  };
}
