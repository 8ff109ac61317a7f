import { commandContract } from "./contract-commands.ts";
import { fileContract } from "./contract-files.ts";
import { isolationContract } from "./contract-isolation.ts";
import { layerContract } from "./contract-layers.ts";
import { lifeContract } from "./contract-life.ts";
import { limitContract } from "./contract-limits.ts";
import type { Subject } from "./subject.ts";

/** Registers the tests that every sandbox driver must pass. */
export function contract(subject: Subject): void {
  lifeContract(subject);
  commandContract(subject);
  fileContract(subject);
  layerContract(subject);
  limitContract(subject);
  isolationContract(subject);
}
