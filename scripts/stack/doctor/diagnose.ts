import type { Check, Machine } from "./check.ts";
import { kernelChecks } from "./kernel.ts";
import { packageIndexCheck, resourceChecks } from "./resources.ts";
import { toolChecks } from "./tools.ts";

export interface DiagnoseOptions {
  stateFolder: string;
  environment?: NodeJS.ProcessEnv;
  /** host:port of a Temporal server to use, when one is given. */
  temporalAddress?: string | undefined;
}

/** All checks of `bench doctor`, in the order in which they are shown. Changes nothing. */
export async function diagnose(options: DiagnoseOptions): Promise<Check[]> {
  const machine = machineOf(options);
  return Promise.all([...localChecks(machine), packageIndexCheck(machine), cluster()]);
}

/** The same without asking the network: quick enough to go before every sweep. */
export async function diagnoseLocally(options: DiagnoseOptions): Promise<Check[]> {
  return Promise.all(localChecks(machineOf(options)));
}

/** Loaded only here: the client library is large, and the other checks go before every sweep. */
async function cluster(): Promise<Check> {
  const { clusterCheck } = await import("./cluster.ts");
  return clusterCheck();
}

function localChecks(machine: Machine): Promise<Check>[] {
  return [...toolChecks(machine), ...kernelChecks(machine), ...resourceChecks(machine)];
}

function machineOf(options: DiagnoseOptions): Machine {
  const environment = options.environment ?? process.env;
  return {
    stateFolder: options.stateFolder,
    environment,
    root: process.getuid?.() === 0,
    temporalAddress: options.temporalAddress || null,
  };
}
