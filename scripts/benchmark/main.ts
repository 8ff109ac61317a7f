import { parseArgs } from "node:util";
import { measureOrchestration } from "./orchestration.ts";
import { measureScale } from "./scale.ts";
import { withServer } from "./server.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    runs: { type: "string", default: "200" },
    steps: { type: "string", default: "20" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`pnpm benchmark [--only orchestration|scale] [--runs N] [--steps N] [--json]
Ratios within one run; the project's goals: orchestration ratio ≥ 0.8; scale with --runs 2000: < 1,024 MiB and
no history over 5,000 events.`);
  process.exit();
}

const results: Record<string, object> = {};
const wanted = (name: string) => values.only === undefined || values.only === name;
await withServer(async (server) => {
  const steps = Number(values.steps);
  if (wanted("orchestration"))
    results.orchestration = await measureOrchestration(server, { runs: 10, steps });
  if (wanted("scale")) {
    results.scale = await measureScale(server, { runs: Number(values.runs), steps, parallel: 40 });
  }
});
console.log(values.json ? JSON.stringify(results, null, 2) : results);
process.exit();
