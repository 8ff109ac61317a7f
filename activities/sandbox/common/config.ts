import { isAbsolute, normalize } from "node:path";
import type { SandboxSpec } from "../driver.ts";

/** What differs between drivers: single values, and lines that may come several times. */
interface Differences {
  id: string;
  /** Folder of the base as the keeper sees it. */
  base: string;
  mounts: readonly { source: string; target: string }[];
  [key: string]: string | number | readonly unknown[];
}

/** The configuration that sandbox-init reads: one `key<TAB>value` a line. Throws on what the lines can't carry. */
export function configText(
  spec: SandboxSpec,
  { mounts, ...values }: Differences,
  lists: readonly (readonly [string, string])[] = [],
): string {
  const { limits } = spec;
  for (const [key, value] of Object.entries(limits)) {
    if (!(Number.isFinite(value) && value > 0)) {
      throw new Error(`sandbox ${spec.id}: limits.${key}: ${value}. Remedy: give a number above 0`);
    }
  }
  const lines: (readonly [string, unknown])[] = [
    ["hostname", "sandbox"],
    ["memory", Math.floor(limits.memoryBytes)],
    ["disk", Math.floor(limits.diskBytes)],
    ["processes", Math.floor(limits.processes)],
    ["deadline", Math.ceil(limits.deadlineSeconds)],
    ["cpus", limits.cpus],
    ["network", spec.network === "on" ? 1 : 0],
    ...Object.entries(values),
    ...lists,
    ...mounts.map(({ source, target }): [string, string] => ["mount", `${source}\t${mountTarget(target)}`]),
  ];
  for (const [key, value] of lines) {
    const tabs = key === "mount" ? 1 : 0;
    if (/[\n\0]/.test(String(value)) || String(value).split("\t").length !== tabs + 1 || value === "") {
      throw new Error(
        `sandbox ${spec.id}: ${key}: "${value}" has a tab or line break, or is empty. Remedy: use another path`,
      );
    }
  }
  return `${lines.map(([key, value]) => `${key}\t${value}`).join("\n")}\n`;
}

function mountTarget(target: string): string {
  const path = normalize(target);
  if (isAbsolute(path) && path !== "/") return path;
  throw new Error(`mount target "${target}" must be an absolute path below /`);
}
