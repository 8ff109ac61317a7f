import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { execa } from "execa";
import { CausedError } from "../../../activities/errors.ts";
import { runTool } from "../../../activities/sandbox/base/tool.ts";

const toolModule = new URL("../../../activities/sandbox/base/tool.ts", import.meta.url).href;

test("a tool's output is returned and its messages are handed on line by line", async (t) => {
  const lines: string[] = [];
  const script = "echo out; echo one >&2; echo two >&2";
  const said = await runTool("sh", ["-c", script], { remedy: "", line: (line) => lines.push(line) });
  t.is(said, "out");
  t.deepEqual(lines, ["one", "two"]);
});

test("a missing tool is named with its remedy, a failing one with its last words", async (t) => {
  const absent = runTool("no-such-tool", [], { remedy: "apt-get install no-such-tool" });
  await t.throwsAsync(absent, {
    instanceOf: CausedError,
    message: "no-such-tool is missing. Remedy: apt-get install no-such-tool",
  });
  for (const group of [false, true]) {
    const failing = runTool("sh", ["-c", "echo first >&2; echo last >&2; exit 7"], { remedy: "", group });
    await t.throwsAsync(failing, { instanceOf: CausedError, message: "sh failed (7): first · last" });
  }
});

async function isGone(marker: string): Promise<boolean> {
  for (let look = 0; look < 100; look++) {
    if ((await execa("pgrep", ["-f", `^sleep ${marker}$`], { reject: false })).exitCode === 1) return true;
    await sleep(50);
  }
  return false;
}

async function endsWithKilledCaller(t: ExecutionContext, marker: string, script: string, group: boolean) {
  const code = `
    const { runTool } = await import(${JSON.stringify(toolModule)});
    const line = (text) => console.log(text);
    await runTool("sh", ["-c", ${JSON.stringify(script)}], { remedy: "", group: ${group}, line });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  t.is((await execa("pgrep", ["-f", `^sleep ${marker}$`])).exitCode, 0);
  child.kill("SIGKILL");
  await once(child, "exit");
  t.true(await isGone(marker));
}

test("a tool ends with a caller that is killed with SIGKILL", async (t) => {
  const marker = `30${process.pid}.1`;
  await endsWithKilledCaller(t, marker, `echo started >&2; exec sleep ${marker}`, false);
});

test("so does the whole group of a tool that starts others", async (t) => {
  const marker = `30${process.pid}.2`;
  await endsWithKilledCaller(t, marker, `(sleep ${marker}; :) & sleep 0.1; echo started >&2; wait`, true);
});

test("an aborted tool ends and the abort is what is thrown", async (t) => {
  for (const group of [false, true]) {
    const marker = `30${process.pid}.3`;
    const running = runTool("sleep", [marker], { remedy: "", group, signal: AbortSignal.timeout(200) });
    await t.throwsAsync(running, { name: "TimeoutError" });
    t.true(await isGone(marker));
  }
});
