import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CommandResult, type CommandSpec, runTool } from "./command.ts";
import { gitFailure } from "./git-failures.ts";

/** How git is run for one fetch: under this configuration and no other. */
export interface Git {
  /** Runs git; the result is whatever came of it. */
  run(args: readonly string[], more?: GitRun): Promise<CommandResult>;
  /** Runs git and throws the failure that the table of messages names when it does not exit with 0. */
  must(args: readonly string[], more?: GitRun): Promise<Buffer>;
}

interface GitRun {
  environment?: Readonly<Record<string, string>>;
  input?: string;
  output?: CommandSpec["output"];
}

/**
 * What a hostile repository or the user's own settings could otherwise turn on: hooks, file system monitors, filters
 * (so no LFS either), credential helpers, background maintenance. `safe.directory` lets root read other users' mirrors.
 */
const CONFIG = `[core]
	hooksPath = /dev/null
	fsmonitor = false
	askPass =
	attributesFile = /dev/null
	excludesFile = /dev/null
	autocrlf = false
	symlinks = true
	fileMode = true
	logAllRefUpdates = false
[init]
	defaultBranch = main
	templateDir =
[credential]
	helper =
[gc]
	auto = 0
[maintenance]
	auto = false
[fetch]
	unpackLimit = 1
	recurseSubmodules = false
	writeCommitGraph = false
[submodule]
	recurse = false
[transfer]
	bundleURI = false
[http]
	lowSpeedLimit = 100
	lowSpeedTime = 60
[pack]
	compression = 1
	threads = 1
	writeReverseIndex = false
[safe]
	directory = *
[advice]
	detachedHead = false
`;

/** Of this process's environment git sees these alone: the way to the network and its certificates. */
const PASSED_ON =
  /^(PATH|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY|GIT_SSL_CAINFO|GIT_SSL_CAPATH|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE)$/;

/** Sets git up in `folder` (a new one). `what` names the source in failures. */
export async function prepareGit(folder: string, what: string, signal: AbortSignal): Promise<Git> {
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "config"), CONFIG);
  const environment = gitEnvironment(home);
  const run: Git["run"] = (args, more = {}) =>
    runTool({
      command: "git",
      args,
      cwd: folder,
      signal,
      environment: { ...environment, ...more.environment },
      ...(more.input === undefined ? {} : { input: more.input }),
      ...(more.output === undefined ? {} : { output: more.output }),
    });
  const must: Git["must"] = async (args, more) => {
    const result = await run(args, more);
    if (result.exit !== 0) throw gitFailure(what, args, result);
    return result.stdout;
  };
  return { run, must };
}

function gitEnvironment(home: string): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name]) => PASSED_ON.test(name));
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_GLOBAL: join(home, "config"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "http:https",
    LC_ALL: "C",
    TZ: "UTC",
  };
}
