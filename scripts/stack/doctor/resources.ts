import { readFile } from "node:fs/promises";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { freeBytes } from "../free-space.ts";
import { detectHostNetworkSettings, findCaBundle } from "../host-network.ts";
import { findTemporalBinary } from "../temporal-binary.ts";
import { type Check, type Machine, ok, probe, TEMPORAL, which, wrong } from "./check.ts";

const GIB = 2 ** 30;
const DISK_GIB = { needed: 5, advised: 20 };
const MEMORY_GIB = { needed: 1, advised: 4 };
const INDEX = "https://pypi.org/simple/";

/** Room, and what is beyond this machine. */
export function resourceChecks(machine: Machine): Promise<Check>[] {
  return [disk(machine), memory(), temporal(machine), network(machine)];
}

/** Asks the network; kept apart because it may take seconds. */
export async function packageIndexCheck(machine: Machine): Promise<Check> {
  const name = "package index";
  const python = await which("python3", machine.environment);
  if (python === null) return wrong(name, "warning", "not tried without python3", null);
  const address = machine.environment.PIP_INDEX_URL || INDEX;
  const script =
    "import sys, urllib.request as r\nurl = sys.argv[1].rstrip('/') + '/pip/'\n" +
    "r.urlopen(r.Request(url, method='HEAD'), timeout=10)";
  const tried = await probe(python, ["-c", script, address], { environment: machine.environment });
  const shown = address.replace(/\/\/[^/]*@/, "//");
  if (tried.works) return ok(name, `${shown} answers`);
  return wrong(name, "warning", `${shown} does not answer: ${tried.said}`, null);
}

async function disk(machine: Machine): Promise<Check> {
  const name = "disk space";
  const free = (await freeBytes(machine.stateFolder)) / GIB;
  const found = `${free.toFixed(1)} GiB free for ${machine.stateFolder}`;
  const remedy = "pnpm bench --state FOLDER … with a folder on a larger disk";
  if (free < DISK_GIB.needed)
    return wrong(name, "missing", `${found}, ${DISK_GIB.needed} are needed`, remedy);
  if (free < DISK_GIB.advised)
    return wrong(name, "warning", `${found}, ${DISK_GIB.advised} are advised`, remedy);
  return ok(name, found);
}

async function memory(): Promise<Check> {
  const available = Number(
    /^MemAvailable:\s+(\d+) kB/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1] ?? 0,
  );
  const gib = (available * 1024) / GIB;
  const found = `${gib.toFixed(1)} GiB available`;
  if (gib < MEMORY_GIB.needed)
    return wrong("memory", "missing", `${found}, ${MEMORY_GIB.needed} is needed`, null);
  if (gib < MEMORY_GIB.advised) return wrong("memory", "warning", found, "pnpm bench --parallel 1 …");
  return ok("memory", found);
}

async function temporal(machine: Machine): Promise<Check> {
  const name = TEMPORAL;
  if (machine.temporalAddress !== null) return ok(name, `the server at ${machine.temporalAddress} is used`);
  try {
    const path = await findTemporalBinary(machine);
    return path === null
      ? wrong(name, "missing", "no temporal command", "pnpm bench doctor --fix")
      : ok(name, path);
  } catch (error) {
    return fromError(name, error as Error);
  }
}

async function network({ environment }: Machine): Promise<Check> {
  const name = "sandbox network";
  try {
    const settings = detectHostNetworkSettings(environment);
    const bundle = findCaBundle(environment);
    const variables = Object.keys(settings.environment).filter((key) => /proxy|INDEX|REGISTRY/i.test(key));
    const parts = [
      bundle ? `CA bundle ${bundle.path} (${bundle.from})` : "no CA bundle of this machine's",
      variables.length > 0 ? `handed on: ${variables.join(", ")}` : "no proxy",
    ];
    return ok(name, parts.join("; "));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return fromError(name, error);
  }
}

function fromError(name: string, error: Error): Check {
  const [found = "", remedy = null] = error.message.split(/\. Remedy: /);
  return wrong(name, "missing", found, remedy);
}
