import type { Task } from "../../benchmarks/schema.ts";
import type { Origin, Unit } from "./unit.ts";

/** A repository that a suite measures, by everything that is known of it. */
export interface Measured extends Origin {}

export interface LeaveOut {
  /** Units that learnt from a measured repository, with the one that they learnt from. */
  left: Map<string, string>;
  /** Units that don't say where they come from: nothing is proven of them. */
  unproven: string[];
}

/** How repositories hang together that a unit or a suite does not know of. */
export interface Kinship {
  /** Pairs of names of the same repository: before and after a rename. */
  renames?: readonly (readonly [string, string])[];
  /** Pairs: a fork and what it was forked from. */
  forks?: readonly (readonly [string, string])[];
}

/** The repository of a suite's task: its id, its address or distribution, and what the suite's facts say of it. */
export function measuredOf({ id, source, facts }: Task): Measured {
  const names = [id];
  if (source.kind === "git") names.push(source.repository);
  if (source.kind === "sdist") names.push(source.name);
  const text = (key: string) => (typeof facts[key] === "string" ? facts[key] : null);
  const renamed = text("renamed_to");
  if (renamed !== null) names.push(renamed);
  return {
    name: id,
    aliases: names,
    forkOf: text("fork_of"),
    rootCommit: text("root_commit"),
  };
}

/**
 * Which units must not be shown to a system that is measured on these repositories: those that learnt from one of them, by
 * name, by an earlier or later name, by a fork or what it was forked from, at any distance, or by the same first commit.
 * The same name under another owner counts as well: it is mostly a fork or a repository that moved, and leaving out a unit
 * too many costs little.
 */
export function leaveOut(
  units: readonly Unit[],
  measured: readonly Measured[],
  kinship: Kinship = {},
): LeaveOut {
  const families = makeFamilies();
  const origins = units.flatMap(({ provenance }) => provenance.repositories ?? []);
  for (const origin of [...measured, ...origins]) {
    const [first, ...rest] = keysOf(origin);
    for (const key of rest) families.join(first ?? key, key);
  }
  for (const [one, other] of [...(kinship.renames ?? []), ...(kinship.forks ?? [])]) {
    families.join(fullName(one), fullName(other));
    families.join(fullName(one), bareName(one));
    families.join(fullName(other), bareName(other));
  }
  const known = new Map(
    measured.map((repository) => [families.of(fullName(repository.name)), repository.name]),
  );
  const left = new Map<string, string>();
  for (const { id, provenance } of units) {
    const hit = (provenance.repositories ?? [])
      .map(({ name }) => known.get(families.of(fullName(name))))
      .find((name) => name !== undefined);
    if (hit !== undefined) left.set(id, hit);
  }
  return {
    left,
    unproven: units.filter(({ provenance }) => provenance.repositories === null).map(({ id }) => id),
  };
}

/** Everything by which a repository can be known; equal keys mean the same family. */
function keysOf({ name, aliases, forkOf, rootCommit }: Origin): string[] {
  const names = [name, ...aliases, ...(forkOf === null ? [] : [forkOf])];
  return [
    ...names.flatMap((it) => [fullName(it), bareName(it)]),
    ...(rootCommit ? [`root ${rootCommit}`] : []),
  ];
}

/** owner/name in lower case, of an address or a name. */
function fullName(name: string): string {
  const path = name
    .trim()
    .toLowerCase()
    .replace(/^(?:\w+:\/\/|git@)(?:[^/:@]*@)?[^/:]+[/:]/, "")
    .replace(/\.git$|\/+$/g, "");
  const parts = path.split("/").filter(Boolean);
  return parts.length < 2 ? bareName(path) : `full ${parts.slice(-2).join("/")}`;
}

/** The last part, as distributions compare names. */
function bareName(name: string): string {
  const last =
    name
      .trim()
      .toLowerCase()
      .replace(/\.git$|\/+$/g, "")
      .split(/[/:]/)
      .at(-1) ?? "";
  return `bare ${last.replaceAll(/[-_.]+/g, "-")}`;
}

function makeFamilies() {
  const parent = new Map<string, string>();
  const of = (key: string): string => {
    let root = key;
    for (let up = parent.get(root); up !== undefined; up = parent.get(root)) root = up;
    return root;
  };
  const join = (one: string, other: string): void => {
    const [a, b] = [of(one), of(other)];
    if (a !== b) parent.set(a, b);
  };
  return { of, join };
}
