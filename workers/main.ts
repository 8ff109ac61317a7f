import { parseArgs } from "node:util";
import { makeDeps } from "./deps.ts";
import { createWorkers } from "./worker.ts";

/** One worker process: `node workers/main.ts --state DIR --address HOST:PORT --namespace NAME`. Ends on SIGTERM or SIGINT. */
const { values } = parseArgs({
  options: {
    state: { type: "string" },
    address: { type: "string" },
    namespace: { type: "string", default: "default" },
    activities: { type: "string", default: "200" },
  },
});

if (values.state === undefined || values.address === undefined) {
  console.error("workers/main.ts: --state and --address are needed");
  process.exit(2);
}

const workers = await createWorkers({
  address: values.address,
  namespace: values.namespace,
  deps: makeDeps(values.state),
  activities: Number(values.activities),
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => workers.shutdown());
await workers.run();
