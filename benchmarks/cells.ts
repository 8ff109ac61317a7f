import type { ArmPlan, SweepPlan } from "./sweep-plan.ts";

/** One (task, arm, repeat) of a sweep. The id is a folder name and a part of workflow ids. */
export interface Cell {
  id: string;
  task: string;
  arm: ArmPlan;
  /** From 1. */
  repeat: number;
}

/** All cells of a plan, task by task, so that the arms of one repository run close together and can be paired early. */
export function cellsOf(plan: SweepPlan): Cell[] {
  const { tasks, arms, repeats } = plan.lock;
  const cells: Cell[] = [];
  for (let repeat = 1; repeat <= repeats; repeat++) {
    for (const task of tasks) {
      for (const arm of arms) cells.push({ id: cellId(task, arm.id, repeat), task, arm, repeat });
    }
  }
  return cells;
}

export function cellId(task: string, arm: string, repeat: number): string {
  const name = `${folderName(task)}--${arm}`;
  return repeat === 1 ? name : `${name}--${repeat}`;
}

/** A task's id as a part of file names. */
export function folderName(task: string): string {
  return task.replace("/", "__");
}

/** The parts of two locks that differ, each as `key: was → is`; empty when a resume may go on. */
export function lockDifferences(before: SweepPlan["lock"], after: SweepPlan["lock"]): string[] {
  const was = flatten(before);
  const is = flatten(after);
  const keys = [...new Set([...was.keys(), ...is.keys()])];
  return keys
    .filter((key) => was.get(key) !== is.get(key))
    .map((key) => `${key}: ${was.get(key) ?? "absent"} → ${is.get(key) ?? "absent"}`);
}

/**
 * Whether the second lock asks for what the first did and for more arms of the same matrix: a matrix grows, and its cells
 * that are done stay done.
 */
export function addsArms(before: SweepPlan["lock"], after: SweepPlan["lock"]): boolean {
  if (before.matrix === null || before.matrix !== after.matrix) return false;
  const known = new Set(before.arms.map(({ id }) => id));
  const same = <T>(was: Record<string, T>, is: Record<string, T>) =>
    Object.fromEntries(Object.keys(was).flatMap((key) => (key in is ? [[key, is[key] as T]] : [])));
  const without = {
    ...after,
    arms: after.arms.filter(({ id }) => known.has(id)),
    models: same(before.models, after.models),
    knowledge: same(before.knowledge, after.knowledge),
    prompts: same(before.prompts, after.prompts),
  };
  return after.arms.length > known.size && lockDifferences(before, without).length === 0;
}

function flatten(value: unknown, prefix = "", into = new Map<string, string>()): Map<string, string> {
  if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) flatten(inner, prefix ? `${prefix}.${key}` : key, into);
  } else {
    into.set(prefix, String(value));
  }
  return into;
}
