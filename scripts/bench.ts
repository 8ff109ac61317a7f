import { Command, CommanderError } from "commander";
import { UsageError } from "../benchmarks/usage-error.ts";
import manifest from "../package.json" with { type: "json" };
import { applyConfigFile } from "./cli/config-file.ts";
import { errorLine } from "./cli/error-line.ts";
import { inheritFlags } from "./cli/inherit.ts";
import { addKnowledgeVerbs } from "./cli/knowledge-verbs.ts";
import { optionHelp } from "./cli/option-help.ts";
import {
  addCommonOptions,
  addDriverOptions,
  addSweepOptions,
  type CommonOptions,
  type DriverOptions,
  type SweepOptions,
} from "./cli/options.ts";
import { applySwitches } from "./cli/switches.ts";
import { refuseUnknownVariables } from "./cli/variables.ts";
import { addWorkerOptions, type WorkerOptions } from "./cli/worker-options.ts";

const EXAMPLES = `
Examples:
  pnpm bench --suite pypi-smoke       oracle, nop and naive on nine quick
                                      repositories
  pnpm bench --suite pypi-sdist --system naive,pipreqs --tier high --parallel 4
  pnpm bench --suite my-suite.yaml --system script --script setup.sh
  pnpm bench resume SWEEP             go on after a crash or Ctrl-C
  pnpm bench inspect SWEEP/CELL       steps, commands, outputs and result
  pnpm bench VERB --help              what a verb does, with an example

Every flag of a sweep has a variable (--tests-network: BENCH_TESTS_NETWORK) and
a key in bench.config.yaml (tests-network: on). A flag goes before a variable,
a variable before the file.
Exit code: 0 all cells graded, 1 some cell not graded, 2 usage or configuration.`;

// Who reads may have had enough, as `head` has.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => process.exit(code === "EPIPE" ? 0 : 1));

const program = new Command("bench")
  .description("Measures how well agents set up code repositories.")
  .version(manifest.version)
  .exitOverride()
  .enablePositionalOptions()
  .configureOutput({ outputError: () => undefined })
  .configureHelp({ optionDescription: optionHelp })
  .addHelpText("after", EXAMPLES);

addSweepOptions(program).action(async () => {
  const { runSweep } = await import("./commands/run.ts");
  finish(await runSweep(program.opts<SweepOptions>()));
});

/**
 * A verb with the common options; what it does is loaded only when it is asked for, so that the command answers fast.
 * `run` gives the exit code; `example` is a whole line to type, and what it does.
 */
function verb<M>(
  usage: string,
  description: string,
  example: string,
  load: () => Promise<M>,
  run: (module: M, options: CommonOptions, args: string[], command: Command) => Promise<number>,
): Command {
  const command = addCommonOptions(
    program.command(usage).description(description).addHelpText("after", `\nExample:\n  ${example}`),
  );
  return command.action(async () => {
    inheritFlags(program, command);
    finish(await run(await load(), command.opts<CommonOptions>(), command.processedArgs.flat(), command));
  });
}

const sweeps = () => import("./commands/sweeps.ts");
const control = () => import("./commands/control.ts");
const stack = () => import("./commands/stack.ts");
const catalogue = () => import("./commands/catalogue.ts");

verb(
  "resume <sweep>",
  "go on with a sweep that was interrupted, from its workflow or its folder",
  "pnpm bench resume pypi-smoke-20260101-120000",
  sweeps,
  (it, options, [id]) => it.resumeSweep(options, String(id)),
);
verb(
  "status [sweep]",
  "the state of all sweeps, or of one: running, paused, complete (every cell graded) or incomplete",
  "pnpm bench status --json | jq '.[] | select(.state == \"running\") | .sweep'",
  sweeps,
  (it, options, [id]) => it.statusOf(options, id),
);
verb(
  "watch <sweep>",
  "follow a running sweep to its table; Ctrl-C only stops watching",
  "pnpm bench watch pypi-smoke-20260101-120000",
  sweeps,
  (it, options, [id]) => it.watchSweep(options, String(id)),
);
verb(
  "report <sweep>",
  "write a sweep's result files anew and print its table",
  "pnpm bench report pypi-smoke-20260101-120000 --json > summary.json",
  sweeps,
  (it, options, [id]) => it.reportSweep(options, String(id)),
);
verb(
  "compare <sides...>",
  "pair two arms on the repositories that both ran (McNemar, who wins where): SWEEP/ARM SWEEP/ARM, or a sweep's first with each",
  "pnpm bench compare ablation/setupx ablation/setupx+off",
  () => import("./commands/compare.ts"),
  (it, options, sides) => it.compareSweeps(options, sides),
);
verb(
  "pause <sweep>",
  "start no new cell; running ones finish",
  "pnpm bench pause pypi-smoke-20260101-120000",
  control,
  (it, options, [id]) => it.pauseSweep(options, String(id)),
);
verb(
  "unpause <sweep>",
  "start new cells again",
  "pnpm bench unpause pypi-smoke-20260101-120000",
  control,
  (it, options, [id]) => it.unpauseSweep(options, String(id)),
);
verb(
  "cancel <sweep>",
  "end a sweep and its running cells; their sandboxes are destroyed",
  "pnpm bench cancel pypi-smoke-20260101-120000",
  control,
  (it, options, [id]) => it.cancelSweep(options, String(id)),
);
verb(
  "set <sweep> <setting>",
  "change a running sweep: parallel=N",
  "pnpm bench set pypi-smoke-20260101-120000 parallel=4",
  control,
  (it, options, [id, setting]) => it.setParallel(options, String(id), String(setting)),
);
verb(
  "inspect <run>",
  "steps, commands, outputs and result of one run, named SWEEP/CELL or SWEEP/CELL/ATTEMPT",
  "pnpm bench inspect pypi-smoke-20260101-120000/h11--naive",
  () => import("./commands/inspect.ts"),
  (it, options, [run]) => it.inspectRun(options, String(run)),
);
verb(
  "suites [action] [name]",
  "list the suites; `suites show NAME|FILE` lists one's repositories",
  "pnpm bench suites show pypi-sdist",
  catalogue,
  (it, options, args) => (args[0] === undefined ? it.printSuites(options) : it.printSuite(options, args)),
);
verb("systems", "list the systems", "pnpm bench systems", catalogue, (it, options) =>
  it.printSystems(options),
);
addKnowledgeVerbs(program, finish);
verb(
  "doctor",
  "what is missing on this machine, and the command that fixes it; exit code 2 if something is",
  "pnpm bench doctor --fix",
  () => import("./commands/doctor.ts"),
  (it, options, _, command) => it.doctorCommand(options, command.opts<{ fix: boolean }>().fix),
).option("--fix", "run those commands", false);
addDriverOptions(
  verb(
    "gc",
    "destroy sandboxes that no running workflow owns",
    "pnpm bench gc --driver docker",
    () => import("./commands/gc.ts"),
    (it, _, __, command) => it.collectGarbage(command.opts<CommonOptions & DriverOptions>()),
  ),
);
verb("up", "start the embedded stack and keep it", "pnpm bench up", stack, (it, options) =>
  it.upCommand(options),
);
addWorkerOptions(
  verb(
    "worker",
    "serve task queues in the foreground (with --address: of a shared server)",
    "pnpm bench worker --address temporal.example.org:7233 --queues general,kubernetes",
    () => import("./commands/worker.ts"),
    (it, _, __, command) => it.workerCommand(command.opts<WorkerOptions>()),
  ),
);
verb(
  "down",
  "stop the embedded stack; sweeps go on where they were when resumed",
  "pnpm bench down",
  stack,
  (it, options) => it.downCommand(options),
);

function finish(code: number): void {
  process.exitCode = code;
}

try {
  refuseUnknownVariables(program, process.env);
  await applyConfigFile(program);
  applySwitches(program, process.env);
  await program.parseAsync();
} catch (error) {
  const asked = error instanceof CommanderError && error.exitCode === 0;
  if (!asked) process.stderr.write(`bench: ${errorLine(error, program)}\n`);
  if (process.env.BENCH_DEBUG && !asked && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exitCode = asked ? 0 : error instanceof UsageError || error instanceof CommanderError ? 2 : 1;
}
// A pipe may still hold back what was written: exit would drop it.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done))),
);
// A Temporal client or a watched child may keep the event loop alive after everything has been said.
process.exit();
