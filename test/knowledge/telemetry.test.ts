import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import {
  LEXICAL_NAME,
  lexicalEmbedding,
  lexicalVector,
} from "../../activities/knowledge/embedding/lexical.ts";
import { libsqlKind, qdrantKind, type StoreKind } from "./stores.ts";
import { unitOf } from "./units.ts";

const run = promisify(execFile);
const WORKER = fileURLToPath(new URL("telemetry-worker.ts", import.meta.url));
const CREATE = { embedding: LEXICAL_NAME, dimension: lexicalEmbedding.dimension };
const PROCESSES = 4;
const EVENTS = 1_000;

/** Sixteen workers in four processes; `size` events go into one call. */
async function hammer(kind: StoreKind, size: number) {
  const address = kind.address();
  const store = await kind.open(CREATE, address);
  await store.put([{ unit: unitOf("shared", "alpha"), vector: lexicalVector("alpha") }]);
  await Promise.all(
    Array.from({ length: PROCESSES }, (_, index) =>
      run(process.execPath, [WORKER, kind.name, address, String(index), String(EVENTS), String(size)]),
    ),
  );
  const [unit] = await store.get(["shared"]);
  await store.close();
  return unit?.telemetry;
}

const EXPECTED = { hits: 334 * 16, successes: 333 * 16, failures: 333 * 16 };

test.serial(
  "libSQL: of sixteen workers with a thousand updates each none is lost and none counts twice",
  async (t) => {
    const kind = await libsqlKind();
    t.deepEqual(await hammer(kind, 1), EXPECTED);
    await kind.stop();
  },
);

test.serial(
  "Qdrant: of sixteen workers with a thousand updates each none is lost and none counts twice",
  async (t) => {
    const kind = await qdrantKind();
    t.deepEqual(await hammer(kind, 20), EXPECTED);
    await kind.stop();
  },
);
