import { execa } from "execa";

/** Runs a host tool and returns its standard output; throws with what it said on a failure. */
export async function tool(command: string, args: readonly string[], input = ""): Promise<string> {
  const result = await execa(command, args, { input, reject: false });
  if (!result.failed) return result.stdout;
  throw new Error(`${command} ${args.join(" ")} failed: ${result.stderr || result.shortMessage}`);
}

/** Whether the command succeeds. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return !(await execa(command, args, { stdin: "ignore", reject: false })).failed;
}
