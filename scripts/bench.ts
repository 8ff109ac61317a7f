import { Command, CommanderError } from "commander";
import { UsageError } from "../benchmarks/usage-error.ts";
import { applyConfigFile } from "./cli/config-file.ts";
import { addCommonOptions, addSweepOptions, type CommonOptions, type SweepOptions } from "./cli/options.ts";
import { printSuite, printSuites, printSystems } from "./commands/catalogue.ts";
import { cancelSweep, pauseSweep, setParallel, unpauseSweep } from "./commands/control.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { collectGarbage } from "./commands/gc.ts";
import { inspectRun } from "./commands/inspect.ts";
import { runSweep } from "./commands/run.ts";
import { downCommand, upCommand, workerCommand } from "./commands/stack.ts";
import { reportSweep, resumeSweep, statusOf, watchSweep } from "./commands/sweeps.ts";

const EXAMPLES = `
Examples:
  pnpm bench --suite pypi-smoke                       oracle, nop and naive on nine quick repositories
  pnpm bench --suite pypi-sdist --system naive,pipreqs --tier high --parallel 4
  pnpm bench --suite my-suite.yaml --system script --script setup.sh
  pnpm bench resume pypi-smoke-20260101-120000        go on after a crash or Ctrl-C
  pnpm bench inspect SWEEP/CELL                       steps, commands, outputs and result of one run
Every flag has a variable (--tests-network: BENCH_TESTS_NETWORK) and a key in bench.config.yaml (tests-network: on).
Exit code: 0 all cells graded, 1 some cell not graded, 2 usage or configuration.`;

const program = new Command("bench")
  .description("Measures how well agents set up code repositories.")
  .exitOverride()
  .enablePositionalOptions()
  .showHelpAfterError("(see `pnpm bench --help`)")
  .addHelpText("after", EXAMPLES);

addSweepOptions(program).action(async () => {
  await applyConfigFile(program, program.options);
  finish(await runSweep(program.opts<SweepOptions>()));
});

/** A verb with the common options; the handler gives the exit code. */
function verb(
  usage: string,
  description: string,
  handler: (options: CommonOptions, args: string[], command: Command) => Promise<number>,
): Command {
  const command = addCommonOptions(program.command(usage).description(description));
  command.action(async () =>
    finish(await handler(command.opts<CommonOptions>(), command.processedArgs.flat(), command)),
  );
  return command;
}

verb(
  "resume <sweep>",
  "go on with a sweep that was interrupted, from its workflow or from its folder",
  (options, [id]) => resumeSweep(options, String(id)),
);
verb("status [sweep]", "the state of all sweeps, or of one", (options, [id]) => statusOf(options, id));
verb("watch <sweep>", "follow a running sweep; Ctrl-C only stops watching", (options, [id]) =>
  watchSweep(options, String(id)),
);
verb("pause <sweep>", "start no new cell; running ones finish", (options, [id]) =>
  pauseSweep(options, String(id)),
);
verb("unpause <sweep>", "start new cells again", (options, [id]) => unpauseSweep(options, String(id)));
verb("cancel <sweep>", "end a sweep and its running cells; their sandboxes are destroyed", (options, [id]) =>
  cancelSweep(options, String(id)),
);
verb("set <sweep> <setting>", "change a running sweep: parallel=N", (options, [id, setting]) =>
  setParallel(options, String(id), String(setting)),
);
verb("report <sweep>", "write a sweep's result files anew and print its table", (options, [id]) =>
  reportSweep(options, String(id)),
);
verb("inspect <run>", "one run, named SWEEP/CELL or SWEEP/CELL/ATTEMPT", (options, [run]) =>
  inspectRun(options, String(run)),
);
verb(
  "suites [action] [name]",
  "list the suites; `suites show NAME` lists one's repositories",
  (options, args) => (args[0] === undefined ? printSuites(options) : printSuite(options, args)),
);
verb("systems", "list the systems", (options) => printSystems(options));
verb("doctor", "what is missing on this machine, and the command that fixes it", (options, _, command) =>
  doctorCommand(options, command.opts<{ fix: boolean }>().fix),
).option("--fix", "run those commands", false);
verb("gc", "destroy sandboxes that no running workflow owns", (options) => collectGarbage(options));
verb("up", "start the embedded stack and keep it", (options) => upCommand(options));
verb(
  "worker",
  "serve this machine's sandboxes in the foreground (with --address: for a shared server)",
  (options) => workerCommand(options),
);
verb("down", "stop the embedded stack; sweeps go on where they were when resumed", (options) =>
  downCommand(options),
);

function finish(code: number): void {
  process.exitCode = code;
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else if (error instanceof UsageError) {
    process.stderr.write(`bench: ${error.message}\n`);
    process.exitCode = 2;
  } else {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    if (process.env.BENCH_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  }
}
// A Temporal client or a watched child may keep the event loop alive after everything has been said.
process.exit();
