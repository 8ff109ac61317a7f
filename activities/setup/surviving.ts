import type { Step } from "../store/trajectory.ts";
import { NO_VALUES, overlaid, type Values } from "./values.ts";

/** Where a trajectory has led: what of it still holds in each root. */
export interface Surviving {
  /** Commands and values that hold, and the pushes of frames that are there, in order. */
  main: readonly Step[];
  /** The forks that are open, with what was done on each of them. */
  forks: ReadonlyMap<string, readonly Step[]>;
}

/**
 * Failed commands are dropped (EnvBench's rule), and so is what was done in a frame that was popped. Steps are in the
 * order in which they ended.
 */
export function survivingSteps(trajectory: readonly Step[]): Surviving {
  let main: Step[] = [];
  const forks = new Map<string, Step[]>();
  for (const step of trajectory) {
    const { move, observation } = step;
    if (observation?.exit !== 0) continue;
    switch (move.kind) {
      case "push":
        main.push(step);
        break;
      case "pop":
        main = main.slice(
          0,
          main.findIndex((other) => other.move.kind === "push" && other.move.frame === move.frame),
        );
        break;
      case "fork":
        forks.set(move.root, []);
        break;
      case "drop":
        forks.delete(move.root);
        break;
      default:
        if (move.root === undefined) main.push(step);
        else forks.get(move.root)?.push(step);
    }
  }
  return { main, forks };
}

/** Variables and umask that hold in a root: `main`, or a fork's name. */
export function valuesOf({ main, forks }: Surviving, root: string): Values {
  const steps = root === "main" ? main : [...main, ...(forks.get(root) ?? [])];
  return steps.reduce((values, { values: set }) => (set ? overlaid(values, set) : values), NO_VALUES);
}
