export { reaper } from "./reaper.ts";
export { run } from "./run.ts";
export { sweep } from "./sweep.ts";
