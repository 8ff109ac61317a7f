import { contractOnDocker } from "./on-docker.ts";

await contractOnDocker("docker, rebuild", { snapshots: "rebuild" });
