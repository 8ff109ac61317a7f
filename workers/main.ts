import { parseArgs } from "node:util";
import { serve } from "./serve.ts";

/** The process of one worker; `bench` starts it, `bench worker` does the same in the foreground. */
const { values } = parseArgs({
  options: {
    state: { type: "string", default: ".bench" },
    address: { type: "string", default: "127.0.0.1:7233" },
    namespace: { type: "string", default: "default" },
    server: { type: "string", default: "" },
    activities: { type: "string", default: "200" },
  },
});

await serve({ ...values, activities: Number(values.activities) });
