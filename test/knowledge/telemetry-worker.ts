import { LEXICAL_NAME, lexicalEmbedding } from "../../activities/knowledge/embedding/lexical.ts";
import { openLibsql } from "../../activities/knowledge/store/libsql.ts";
import { openQdrant } from "../../activities/knowledge/store/qdrant.ts";

/** Four workers of one process: each records its events one by one, and every tenth again, as a retry does. */
const [kind, address = "", first = "0", events = "0", size = "1"] = process.argv.slice(2);
const create = { embedding: LEXICAL_NAME, dimension: lexicalEmbedding.dimension };
const WORKERS = 4;

async function work(worker: number): Promise<void> {
  const store =
    kind === "libSQL" ? await openLibsql(address, create) : await openQdrant(address, null, create);
  for (let start = 0; start < Number(events); start += Number(size)) {
    const part = Array.from({ length: Math.min(Number(size), Number(events) - start) }, (_, index) => ({
      id: `worker-${worker}/${start + index}`,
      unit: "shared",
      kind: (["hit", "success", "failure"] as const)[(start + index) % 3] ?? "hit",
    }));
    await store.record(part);
    if ((start / Number(size)) % 10 === 0) await store.record(part);
  }
  await store.close();
}

await Promise.all(Array.from({ length: WORKERS }, (_, index) => work(Number(first) * WORKERS + index)));
