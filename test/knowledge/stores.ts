import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openLibsql } from "../../activities/knowledge/store/libsql.ts";
import { openQdrant } from "../../activities/knowledge/store/qdrant.ts";
import type { Store } from "../../activities/knowledge/store/store.ts";
import { testStateFolder } from "../support/state.ts";

const run = promisify(execFile);
const SERVER = fileURLToPath(new URL("qdrant_server.py", import.meta.url));
const ENGINE = "qdrant-edge-py==0.9.0";

export interface StoreKind {
  name: string;
  /** A new base, or the one of that address once more. */
  open(create: { embedding: string; dimension: number } | null, address?: string): Promise<Store>;
  address(): string;
  stop(): Promise<void>;
}

export async function libsqlKind(): Promise<StoreKind> {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-knowledge-"));
  let number = 0;
  const address = () => join(folder, `${++number}.db`);
  return {
    name: "libSQL",
    address,
    open: (create, file = address()) => openLibsql(file, create),
    stop: () => rm(folder, { recursive: true }),
  };
}

/** The server of QDRANT_URL, or a small one over Qdrant's engine. */
export async function qdrantKind(): Promise<StoreKind> {
  const { url, stop } = await qdrantServer();
  let number = 0;
  const address = () => `${url}/contract-${process.pid}-${Date.now()}-${++number}`;
  return {
    name: "Qdrant",
    address,
    open: (create, at = address()) => openQdrant(at, process.env.QDRANT_API_KEY ?? null, create),
    stop,
  };
}

async function qdrantServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  if (process.env.QDRANT_URL) {
    return { url: process.env.QDRANT_URL.replace(/\/$/, ""), stop: async () => undefined };
  }
  const child = spawn(await engine(), [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(([code]) => {
      throw new Error(`the Qdrant test server ended with ${code}`);
    }),
  ]);
  const stop = async () => {
    child.stdin.end();
    await once(child, "exit");
  };
  return { url: `http://127.0.0.1:${String(line).trim()}`, stop };
}

/** A Python that has the engine; made once and kept. */
async function engine(): Promise<string> {
  const folder = join(testStateFolder(), ENGINE.replace("==", "-"));
  const python = join(folder, "bin", "python3");
  const there = await access(join(folder, "complete")).then(
    () => true,
    () => false,
  );
  if (there) return python;
  await run("python3", ["-m", "venv", folder]);
  await run(python, ["-m", "pip", "install", "--quiet", ENGINE]);
  await run("touch", [join(folder, "complete")]);
  return python;
}
