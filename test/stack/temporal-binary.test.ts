import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import test from "ava";
import { execa } from "execa";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { ensureTemporalBinary, findTemporalBinary } from "../../scripts/stack/temporal-binary.ts";
import { testStateFolder } from "../support/state.ts";

async function program(path: string): Promise<string> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, "#!/bin/sh\n");
  await chmod(path, 0o755);
  return path;
}

test("the variable comes before the search path, that before the state folder's own copy", async (t) => {
  const stateFolder = await mkdtemp(join(tmpdir(), "binary-test-"));
  t.is(await findTemporalBinary({ stateFolder, environment: { PATH: "" } }), null);
  const own = await program(join(stateFolder, "tools", "temporal-1.9.1", "temporal"));
  t.is(await findTemporalBinary({ stateFolder, environment: { PATH: "/nowhere" } }), own);
  const found = await program(join(stateFolder, "bin", "temporal"));
  const PATH = `relative:${join(stateFolder, "tools")}:${join(stateFolder, "bin")}`;
  t.is(await findTemporalBinary({ stateFolder, environment: { PATH } }), found);
  const given = await program(join(stateFolder, "given"));
  t.is(await findTemporalBinary({ stateFolder, environment: { PATH, BENCH_TEMPORAL_CLI: given } }), given);
  await rm(stateFolder, { recursive: true });
});

test("the path is absolute even where the state folder or the variable is relative", async (t) => {
  const stateFolder = await mkdtemp(join(tmpdir(), "binary-test-"));
  const own = await program(join(stateFolder, "tools", "temporal-1.9.1", "temporal"));
  const near = relative(process.cwd(), stateFolder);
  t.is(await findTemporalBinary({ stateFolder: near, environment: { PATH: "" } }), own);
  const environment = { PATH: "", BENCH_TEMPORAL_CLI: relative(process.cwd(), own) };
  t.is(await findTemporalBinary({ stateFolder: "/nowhere", environment }), own);
  await rm(stateFolder, { recursive: true });
});

test("a variable that names no program is an error, not a reason to look elsewhere", async (t) => {
  const environment = { ...process.env, BENCH_TEMPORAL_CLI: "/etc" };
  const error = await t.throwsAsync(ensureTemporalBinary({ stateFolder: "/nowhere", environment }), {
    instanceOf: UsageError,
  });
  t.regex(error?.message ?? "", /^BENCH_TEMPORAL_CLI: \/etc is not an executable file\. Remedy: /);
});

test("the installed copy is the Temporal command", async (t) => {
  const path = await ensureTemporalBinary({ stateFolder: testStateFolder() });
  t.regex((await execa(path, ["--version"])).stdout, /^temporal version \d+\.\d+\.\d+ \(Server/);
});
