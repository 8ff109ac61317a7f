import { layerContract } from "./contract-layers.ts";
import { lifeContract } from "./contract-life.ts";
import { contractOnDocker } from "./on-docker.ts";

// Inside its container such a sandbox is one of docker-rebuild.test.ts, which runs the other parts.
await contractOnDocker("docker, commit", { snapshots: "commit" }, (subject) => {
  lifeContract(subject);
  layerContract(subject);
});
