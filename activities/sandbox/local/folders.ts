import { join } from "node:path";
import { safeName } from "../common/names.ts";

/** Where the files of one sandbox lie. */
export interface SandboxFolder {
  home: string;
  spec: string;
  /** Holds the control socket and the commands; all of the folder that the sandbox's init sees. */
  control: string;
  exec(execId: string): string;
}

export function sandboxesFolder(stateFolder: string): string {
  return join(stateFolder, "sandboxes");
}

export function sandboxFolder(stateFolder: string, id: string): SandboxFolder {
  const home = join(sandboxesFolder(stateFolder), safeName(id));
  const control = join(home, "ctl");
  return {
    home,
    control,
    spec: join(home, "spec.json"),
    exec: (execId) => join(control, "exec", safeName(execId)),
  };
}
