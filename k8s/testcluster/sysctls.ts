import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Those of the kernel as a whole that the kubelet sets, and to what. */
const SET_BY_KUBELET: Record<string, string> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};

/** Notes the kernel's settings before the first change of them, but none that another cluster has changed by now. */
export async function saveSysctls(folder: string): Promise<void> {
  if ((await readSaved(folder)) !== null) return;
  const values: Record<string, string> = {};
  for (const [name, set] of Object.entries(SET_BY_KUBELET)) {
    const value = (await readFile(`/proc/sys/${name}`, "utf8")).trim();
    if (value !== set) values[name] = value;
  }
  await writeFile(join(folder, "sysctls.json"), `${JSON.stringify(values, null, 2)}\n`);
}

export async function restoreSysctls(folder: string): Promise<void> {
  for (const [name, value] of Object.entries((await readSaved(folder)) ?? {})) {
    const path = `/proc/sys/${name}`;
    if ((await readFile(path, "utf8")).trim() !== value) await writeFile(path, value);
  }
  await rm(join(folder, "sysctls.json"), { force: true });
}

async function readSaved(folder: string): Promise<Record<string, string> | null> {
  try {
    return JSON.parse(await readFile(join(folder, "sysctls.json"), "utf8")) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
