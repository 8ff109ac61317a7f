import { configText } from "../common/config.ts";
import { ENVIRONMENT, environmentBlock } from "../common/environment.ts";
import type { SandboxSpec } from "../driver.ts";
import type { Provided } from "./engine.ts";
import { frameInput } from "./frame.ts";
import { mountSource } from "./layout.ts";

/** What `begin` is told: `<bytes>\n`, the configuration, and the environment under that of every command. */
export function beginInput(spec: SandboxSpec, provided: Provided): Uint8Array {
  // A root without layers is the container's own, with whatever is mounted in it.
  const volumes = provided.snapshots === "layers" ? (provided.volumes ?? []) : [];
  const succession = provided.succession ?? { root: "main", network: spec.network, began: 0 };
  const several = { root: succession.root, began: succession.began };
  const values = {
    id: "sandbox",
    base: "/",
    layers: provided.snapshots === "layers" ? 1 : 0,
    own_users: provided.ownUsers ? 1 : 0,
    volume: provided.loopDevices ? 1 : 0,
    network_inside: provided.network === "inside" ? 1 : 0,
    ...(provided.snapshots === "commit" ? several : {}),
    mounts: [
      ...spec.mounts.map(({ target }, index) => ({ source: mountSource(index), target })),
      ...volumes.map((path) => ({ source: path, target: path })),
    ],
  };
  const unreachable = provided.unreachable.map((network) => ["unreachable", network] as const);
  const config = configText({ ...spec, network: succession.network }, values, unreachable);
  const environment = environmentBlock({ ...ENVIRONMENT, ...spec.environment });
  return frameInput(Buffer.from(`${Buffer.byteLength(config)}\n${config}${environment}`));
}
