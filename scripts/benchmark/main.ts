import { parseArgs } from "node:util";
import { measureCluster } from "./cluster.ts";
import { measureFrames } from "./frames.ts";
import { measureOrchestration } from "./orchestration.ts";
import { measureScale } from "./scale.ts";
import { measureSearch } from "./search.ts";
import { withServer } from "./server.ts";
import { measureShellLoop } from "./shell-loop.ts";
import { undoOnSignals } from "./undo.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    runs: { type: "string", default: "200" },
    steps: { type: "string", default: "20" },
    units: { type: "string", default: "50000" },
    cells: { type: "string", default: "200" },
    state: { type: "string", default: ".bench" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const HELP = `pnpm benchmark [--only orchestration|scale|frames|shell|search|cluster] [--runs N] [--steps N] [--cells N]
                [--units N] [--state DIR] [--json]

Ratios within one run, and the goals of the project:
  orchestration  our steps/s over a bare Temporal loop's; a run's own cost in bare steps   at least 0.8
  scale          --runs simulated runs of --steps steps (2000 for the full measure)        under 1,024 MiB, no history over 5,000 events
  frames         push and pop against docker commit and docker run, where an engine runs   at least 50
  shell          a sweep's wall time over a plain shell loop's                             at most 1.1
  search         milliseconds of a search of an embedded knowledge base of --units units   p50 at most 30
  cluster        pods against bare ones by kubectl, where a cluster is up: first command   at most 1.2, from a warm pool 0.1
                 requests to the API server per step; --cells cells under a quota of 5     at most 3
`;

if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}

undoOnSignals();
const [runs, steps] = [Number(values.runs), Number(values.steps)];
const NO_CLUSTER = { skipped: "no cluster is up; start one: pnpm testcluster up" };
const measures: Record<string, () => Promise<object>> = {
  orchestration: () => withServer((server) => measureOrchestration(server, 10)),
  scale: () => withServer((server) => measureScale(server, { runs, steps, parallel: 40 })),
  frames: () => measureFrames(values.state),
  cluster: async () => (await measureCluster(values.state, Number(values.cells))) ?? NO_CLUSTER,
  search: () => measureSearch(Number(values.units)),
  shell: () => measureShellLoop(values.state),
};
const wanted = values.only === undefined ? Object.keys(measures) : values.only.split(",");
const results: Record<string, object> = {};
for (const name of wanted) {
  const measure = measures[name];
  if (measure === undefined) {
    process.stderr.write(
      `pnpm benchmark: no measure ${name}; there are ${Object.keys(measures).join(", ")}\n`,
    );
    process.exit(2);
  }
  results[name] = await measure();
}
process.stdout.write(`${JSON.stringify(results, null, values.json ? undefined : 2)}\n`);
process.exit();
