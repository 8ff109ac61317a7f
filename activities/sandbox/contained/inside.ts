import type { SandboxRef } from "../../../workflows/types.ts";
import type { SandboxSpec } from "../driver.ts";
import { beginInput } from "./begin.ts";
import { askControl, type Caller } from "./calls.ts";
import type { Provided, Succession } from "./engine.ts";

/** Lets the container begin; one that has begun goes on as it is. Throws Refused with what is wrong. */
export async function beginSandbox(calls: Caller, spec: SandboxSpec, provided: Provided): Promise<void> {
  const options = provided.succession === undefined ? {} : { root: provided.succession.root };
  await calls(provided.sandbox, ["begin"], { input: beginInput(spec, provided), ...options });
}

/** What a container beside that of `root`, or in its place, takes over; `end` ends all commands of that one first. */
export async function succession(
  calls: Caller,
  ref: SandboxRef,
  root: string,
  verb: "state" | "end",
): Promise<Succession> {
  const [network, began] = await askControl(calls, ref, [verb], root);
  return { root, network: network === "on" ? "on" : "off", began: Number(began) };
}
