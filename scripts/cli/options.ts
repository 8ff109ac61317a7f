import { type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_BASE } from "../../activities/sandbox/base/request.ts";
import { addClusterOptions, type ClusterOptions } from "./cluster-options.ts";
import { earlier, list } from "./lists.ts";
import { addModelOptions, type ModelOptions } from "./model-options.ts";
import { addSystemOptions, type SystemOptions } from "./system-options.ts";
import { number, size, sizeText, wholeNumber } from "./values.ts";

const DRIVERS = ["local", "docker", "kubernetes"] as const;
export type DriverName = (typeof DRIVERS)[number];

export interface DriverOptions extends ClusterOptions {
  driver: DriverName;
  dockerHost?: string;
}

/** The options of a sweep, as parsed; each also has a `BENCH_*` variable and a key in the configuration file. */
export interface SweepOptions extends CommonOptions, DriverOptions, ModelOptions, SystemOptions {
  suite?: string;
  system: string[];
  repos?: string[];
  tier?: "low" | "medium" | "high";
  limit?: number;
  repeat: number;
  parallel: number;
  id?: string;
  out?: string;
  base: string;
  wall: number;
  working: number;
  steps: number;
  commandSeconds: number;
  replaySeconds: number;
  collectSeconds: number;
  testsSeconds: number;
  testSeconds: number;
  memory: number;
  processes: number;
  disk: number;
  cpus: number;
  output: number;
  testsNetwork: "on" | "off";
  mirror: { match: string; replace: string }[];
  index?: string;
  sourceSeconds: number;
  sourceSize: number;
  dryRun: boolean;
  detach: boolean;
}

export interface CommonOptions {
  state: string;
  address?: string;
  namespace: string;
  workers: "here" | "elsewhere";
  json: boolean;
}

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const TIB = 2 ** 40;
const WEEK_SECONDS = 604_800;

export function addCommonOptions(command: Command): Command {
  return command
    .addOption(
      option("--state <dir>", "folder that holds sweeps, caches and the embedded stack").default(".bench"),
    )
    .addOption(option("--address <host:port>", "use this Temporal server instead of the embedded one"))
    .addOption(option("--namespace <name>", "Temporal namespace").default("default"))
    .addOption(
      option("--workers <where>", "start a worker here, or rely on those that run elsewhere")
        .choices(["here", "elsewhere"])
        .default("here"),
    )
    .addOption(option("--json", "print JSON instead of text").default(false));
}

/** Which sandboxes, and where the cluster is. */
export function addDriverOptions(command: Command): Command {
  const driver = option("--driver <name>", "what provides sandboxes").choices(DRIVERS).default("local");
  const engine = option(
    "--docker-host <address>",
    "container engine, else DOCKER_HOST or this machine's Docker",
  );
  return addClusterOptions(command.addOption(driver).addOption(engine));
}

export function addSweepOptions(command: Command): Command {
  return addSystemOptions(addModelOptions(addDriverOptions(addCommonOptions(command))))
    .addOption(
      option("--suite <name|file>", "suite to run: a name (see `pnpm bench suites`) or a JSON or YAML file"),
    )
    .addOption(
      option("--system <names>", "systems to compare, separated by commas (see `pnpm bench systems`)")
        .argParser(list)
        .default([], "oracle,nop,naive"),
    )
    .addOption(option("--repos <ids>", "only these repositories, separated by commas").argParser(list))
    .addOption(option("--tier <tier>", "only this tier").choices(["low", "medium", "high"]))
    .addOption(option("--limit <n>", "only the first n repositories").argParser(wholeNumber(1, 1e6)))
    .addOption(
      option("--repeat <n>", "run each (repository, system) n times")
        .argParser(wholeNumber(1, 1_000))
        .default(1),
    )
    .addOption(option("--parallel <n>", "runs at the same time").argParser(wholeNumber(1, 500)).default(2))
    .addOption(option("--id <id>", "name of the sweep; the same line again attaches to it or continues it"))
    .addOption(option("--out <dir>", "folder of the sweep, else sweeps/<id> in the state folder"))
    .addOption(
      option("--base <base>", "base file system: debian, a directory, a tar file or an OCI image").default(
        DEFAULT_BASE,
      ),
    )
    .addOption(seconds("--wall", "wall time of the setup stage", 3_600))
    .addOption(seconds("--working", "working time of the setup stage, without waiting for capacity", 3_600))
    .addOption(option("--steps <n>", "steps of the agent").argParser(wholeNumber(1, 10_000)).default(100))
    .addOption(seconds("--command-seconds", "time of one command of the agent", 1_800))
    .addOption(seconds("--replay-seconds", "time of the clean replay", 3_600))
    .addOption(seconds("--collect-seconds", "time of the test collection", 600))
    .addOption(seconds("--tests-seconds", "time of all tests together", 1_800))
    .addOption(seconds("--test-seconds", "time of one test", 300))
    .addOption(bytes("--memory", "memory of a sandbox", 4 * GIB, 16 * MIB))
    .addOption(
      option("--processes <n>", "processes in a sandbox")
        .argParser(wholeNumber(16, 4_194_304))
        .default(4_096),
    )
    .addOption(bytes("--disk", "disk that a sandbox may write", 10 * GIB, 16 * MIB))
    .addOption(option("--cpus <n>", "CPUs of a sandbox").argParser(number(0.01, 4_096)).default(2))
    .addOption(bytes("--output", "output that one command may write", 64 * MIB, KIB))
    .addOption(
      option("--tests-network <state>", "outside network during the tests")
        .choices(["on", "off"])
        .default("off"),
    )
    .addOption(
      option("--mirror <regex=replacement>", "rewrite git, index and archive addresses; may be repeated")
        .argParser(addMirror)
        .default([]),
    )
    .addOption(option("--index <url>", "package index that releases are fetched from, else PyPI"))
    .addOption(seconds("--source-seconds", "time of fetching one repository", 600))
    .addOption(bytes("--source-size", "size of one repository", 2 * GIB, KIB))
    .addOption(option("--dry-run", "show the cells and what they need, and do nothing").default(false))
    .addOption(option("--detach", "start the sweep and return; it goes on in the background").default(false));
}

/** `BENCH_<NAME>` of an option's long flag. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(`BENCH_${made.name().replaceAll("-", "_").toUpperCase()}`);
}

export function seconds(flag: string, description: string, initial: number): Option {
  return option(`${flag} <seconds>`, description).argParser(number(1, WEEK_SECONDS)).default(initial);
}

function bytes(flag: string, description: string, initial: number, least: number): Option {
  return option(`${flag} <size>`, `${description}, as 512M or 4G`)
    .argParser(size(least, TIB * 1024))
    .default(initial, sizeText(initial));
}

function addMirror(
  text: string,
  before: { match: string; replace: string }[],
): { match: string; replace: string }[] {
  // The replacement is an address or a path and may hold "=" itself; a regex that needs one writes \x3d.
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be REGEX=REPLACEMENT.");
  return [...earlier(before), { match: text.slice(0, at), replace: text.slice(at + 1) }];
}
