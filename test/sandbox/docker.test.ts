import { contractOnDocker } from "./on-docker.ts";

await contractOnDocker("docker");
