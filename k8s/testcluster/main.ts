import { Command, CommanderError } from "commander";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { ensureHelm } from "../helm/ensure-helm.ts";
import { ensureBinaries } from "./build.ts";
import { neededNode } from "./cluster.ts";
import { down } from "./down.ts";
import { cutApi, parseComponent, restart } from "./faults.ts";
import { kubeconfigPath, stateFolder } from "./folders.ts";
import { imageNames, importImage } from "./images.ts";
import { kubectlHere } from "./kubectl.ts";
import { renderStatus, status } from "./status.ts";
import { up } from "./up.ts";

const say = (line: string) => process.stderr.write(`${line}\n`);

const program = new Command("testcluster")
  .description("A real Kubernetes of one node on this machine, for tests. Needs Linux, root and Go.")
  .exitOverride()
  .enablePositionalOptions();

program
  .command("up")
  .description("build what is missing, start it, print the path of the kubeconfig")
  .action(async () => {
    const { folder } = await up(say);
    process.stdout.write(`${kubeconfigPath(folder)}\n`);
  });

program
  .command("down")
  .description("end all of it and undo its changes to this machine; objects and images stay for the next up")
  .option("--wipe", "remove objects and images too", false)
  .action((options: { wipe: boolean }) => down(options));

program
  .command("status")
  .description("what runs")
  .option("--json", "as JSON", false)
  .action(async (options: { json: boolean }) => {
    const now = await status();
    process.stdout.write(options.json ? `${JSON.stringify(now, null, 2)}\n` : renderStatus(now));
  });

program
  .command("build")
  .description("build what is missing, the chart's helm too, and start nothing")
  .action(async () => {
    await ensureBinaries(say);
    await ensureHelm(say);
  });

program
  .command("image <source> <name>")
  .description("make an image of an image archive, of a root file system's tar or of its folder")
  .action(async (source: string, name: string) => importImage(await neededNode(stateFolder()), source, name));

program
  .command("images")
  .description("names of the images that pods can use")
  .action(async () => {
    const names = await imageNames(await neededNode(stateFolder()));
    process.stdout.write(`${names.join("\n")}\n`);
  });

program
  .command("restart <component>")
  .description("end a component in order, start it again and wait until it works")
  .option("--kill", "end it by SIGKILL", false)
  .action((name: string, options: { kill: boolean }) => restart(parseComponent(name), options));

program
  .command("cut-api <seconds>")
  .description("let nothing reach the API server for so long; returns at once")
  .action(async (seconds: string) => {
    if (!/^[1-9]\d*$/.test(seconds)) throw new UsageError(`cut-api ${seconds}: give whole seconds`);
    await cutApi(Number(seconds));
  });

program
  .command("kubectl [arguments...]")
  .description("kubectl as the administrator")
  .passThroughOptions()
  .allowUnknownOption()
  .helpOption(false)
  .action(async (args: string[]) => {
    process.exitCode = await kubectlHere(await neededNode(stateFolder()), args);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    say(`testcluster: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
