import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { execa } from "execa";
import fc from "fast-check";
import { artifactScript } from "../../activities/setup/artifact.ts";
import { NO_VALUES } from "../../activities/setup/values.ts";

/** Runs an artifact on this machine, in an empty folder instead of the repository's. */
async function run(commands: string[]): Promise<{ exit: number | undefined; stdout: string }> {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-artifact-"));
  try {
    const lines = commands.map((command) => ({ command }));
    const script = artifactScript(lines, NO_VALUES).replace("cd /workspace/repo", `cd ${folder}`);
    const file = join(folder, "setup.sh");
    await writeFile(file, script);
    const { exitCode, stdout } = await execa("bash", [file], { reject: false });
    return { exit: exitCode, stdout };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("an artifact runs its commands in order, each in a bash of its own", async (t) => {
  t.deepEqual(await run(["x=1; cd /; echo first", 'echo "second $x"; pwd | grep -c artifact']), {
    exit: 0,
    stdout: "first\nsecond \n1",
  });
});

test("an artifact stops at the first failing command with its exit code", async (t) => {
  t.deepEqual(await run(["echo before", "exit 7", "echo after"]), { exit: 7, stdout: "before" });
});

test("a command that is too long for an argument runs as well", async (t) => {
  const long = `: <<'X'\n${"x".repeat(200_000)}\nEND_OF_COMMAND\nX\necho long; exit 3`;
  t.deepEqual(await run(["echo before", long, "echo after"]), { exit: 3, stdout: "before\nlong" });
});

test("an artifact without commands succeeds and does nothing", async (t) => {
  t.deepEqual(await run([]), { exit: 0, stdout: "" });
});

test("whatever text a command prints survives the artifact's quoting", async (t) => {
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(texts, async (words) => {
      const clean = words.map((word) => word.replaceAll("\0", "").replaceAll(/[\r\n]/g, "'"));
      const commands = clean.map((word) => `printf '%s\\n' '${word.replaceAll("'", `'"'"'`)}'`);
      const { exit, stdout } = await run(commands);
      t.is(exit, 0);
      t.is(stdout, clean.join("\n"));
    }),
    { numRuns: 25 },
  );
});
