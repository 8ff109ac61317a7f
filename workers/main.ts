import { parseArgs } from "node:util";
import { serve } from "./serve.ts";
import { DEFAULT_TUNING } from "./tuning.ts";

/** The process of one machine's worker behind `bench`; `bench worker` serves in the foreground and takes settings. */
const { values } = parseArgs({
  options: {
    state: { type: "string", default: ".bench" },
    address: { type: "string", default: "127.0.0.1:7233" },
    namespace: { type: "string", default: "default" },
    server: { type: "string" },
  },
});
const { server } = values;
if (server === undefined)
  throw new Error("--server: name the Temporal server and namespace that own what is made");

await serve({
  ...DEFAULT_TUNING,
  ...values,
  server,
  roles: ["general", "host", "kubernetes"],
  metrics: null,
  health: null,
});
