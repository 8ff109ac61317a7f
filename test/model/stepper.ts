import { readCalls, receiptOf } from "../../activities/model/journal.ts";
import { runRole } from "../../activities/model/run-role.ts";
import { fileBlobStore } from "../../activities/store/blobs.ts";
import { colour, endpointAt, MODEL, policyOf } from "./caller.ts";

/** Asks one question per step until all are answered, as a run does; is killed and started again by its test. */
const [url = "", stateFolder = "", folder = "", steps = "0"] = process.argv.slice(2);
const key = { folder, sweep: "s", cell: "task--arm", attempt: 1 };
const plan = {
  lock: { budget: { usd: null, tokens: null } },
  settings: { model_cache: false, spending: { usd: null, tokens: null } },
};

for (let step = 1; step <= Number(steps); step++) {
  const caller = {
    key,
    sweep: plan as never,
    repeat: 1,
    model: MODEL,
    endpoint: endpointAt(url),
    blobs: fileBlobStore(stateFolder),
    stateFolder,
    signal: new AbortController().signal,
  };
  await runRole(colour, { thing: `thing ${step}` }, policyOf(caller, step));
}
const settled = (await readCalls(key)).filter(({ entries }) => receiptOf(entries) !== null);
process.stdout.write(`${settled.length}\n`);
