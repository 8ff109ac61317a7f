import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../../../activities/systems/setupx/rules/install.py");

/** What the installer makes of a message of uv's: what is taken as of later, and what is built. */
async function next(message: string, newer: string[], built: string[]) {
  const code = [
    "import json, runpy, sys",
    "script, message, newer, built = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:])",
    'step = runpy.run_path(script)["next_step"](message, newer, built)',
    "print(json.dumps([step, newer, built]))",
  ].join("\n");
  const given = [SCRIPT, message, JSON.stringify(newer), JSON.stringify(built)];
  const { stdout } = await run("python3", ["-c", code, ...given]);
  return JSON.parse(stdout) as [boolean, string[], string[]];
}

const WHEEL = (name: string) =>
  `error: No solution found when resolving dependencies\n  cause: Because all versions of ${name} have no usable wheels and you require ${name}, we can conclude that your requirements are unsatisfiable.\n\nhint: Wheels are required for \`${name}\` because building from source is disabled for all packages (i.e., with \`--no-build\`)`;

test("what has no wheel is taken as of later, and built only if it has none then", async (t) => {
  t.deepEqual(await next(WHEEL("greenlet"), [], []), [true, ["greenlet"], []]);
  t.deepEqual(await next(WHEEL("greenlet"), ["greenlet"], []), [true, [], ["greenlet"]]);
  t.deepEqual(await next(WHEEL("greenlet"), [], ["greenlet"]), [false, [], ["greenlet"]]);
});

test("the project itself is built at once, and other failures are left to the installer's own words", async (t) => {
  const own =
    "error: Failed to build `thing @ file:///workspace/repo`\n  cause: Building source distributions for `thing` is disabled";
  t.deepEqual(await next(own, [], []), [true, [], ["thing"]]);
  t.deepEqual(await next("error: Failed to build `lxml==4.5.1`", [], []), [false, [], []]);
});
