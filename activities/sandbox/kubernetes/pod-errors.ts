import { CausedError } from "../../errors.ts";
import type { Lost } from "./pod-state.ts";

/** The cluster had no room for the pod for as long as it may wait: nothing is wrong with the pod. */
export class NoRoom extends CausedError {
  constructor(message: string) {
    super("capacity", message);
  }
}

export function lostPod(name: string, { cause, why }: Pick<Lost, "cause" | "why">): CausedError {
  return new CausedError(cause, `the sandbox in pod ${name} is gone: ${why}`);
}
