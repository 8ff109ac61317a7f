import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { bench, freshState, leftOvers, recordsOf } from "./bench.ts";
import { HONEST_TEST, type Hostile, hostileRepositories, SET_UP } from "./hostile-repositories.ts";

/** Small where something runs into the limit, ample in time: the machine may be busy with other tests. */
const LIMITS = [
  ...["--memory", "1G", "--processes", "300", "--disk", "512M", "--output", "1M"],
  ...["--command-seconds", "300", "--replay-seconds", "300", "--tests-seconds", "180", "--test-seconds", "5"],
];

test("hostile repositories harm neither the host nor the score", async (t) => {
  t.timeout(20 * 60_000);
  const { state, end } = await freshState();
  const secret = join(state, "secret");
  await writeFile(secret, "planted-on-the-host\n");
  const repositories = hostileRepositories(secret);
  const suite = await writeSuite(state, repositories);
  process.env.BENCH_TEST_PLANTED = "planted-in-the-environment";
  try {
    const line = ["--suite", suite, "--system", "script", "--script", join(state, "scripts")];
    const sweep = await bench(state, [...line, ...LIMITS, "--id", "hostile", "--parallel", "3"]);
    t.is(sweep.exitCode, 0, sweep.all);
    const records = await recordsOf(state, "hostile");
    for (const [name, { expected }] of Object.entries(repositories)) {
      const record = records.find(({ task }) => task === name);
      t.is(record?.validity, "valid", `${name}: ${record?.cause} ${record?.detail}`);
      t.deepEqual(
        { ebsr: record?.ebsr, essr: record?.essr },
        expected,
        `${name}: ${record?.cause} ${record?.detail}`,
      );
    }
    t.is(await readFile(secret, "utf8"), "planted-on-the-host\n");
    await bench(state, ["down"]);
    t.deepEqual(await leftOvers(state), []);
  } finally {
    delete process.env.BENCH_TEST_PLANTED;
    await end();
  }
});

async function writeSuite(state: string, repositories: Record<string, Hostile>): Promise<string> {
  await mkdir(join(state, "scripts"));
  const tasks = [];
  for (const [name, { files, script, setsUp }] of Object.entries(repositories)) {
    const folder = join(state, "hostile", name);
    await mkdir(folder, { recursive: true });
    for (const [file, content] of Object.entries({ "test_honest.py": HONEST_TEST, ...files })) {
      await writeFile(join(folder, file), content);
    }
    await writeFile(join(state, "scripts", `${name}.sh`), setsUp ? `{ ${script}\n} && ${SET_UP}` : script);
    tasks.push({
      id: name,
      source: { kind: "directory", path: folder },
      gold: { ids: ["test_honest.py::test_honest"] },
    });
  }
  const file = join(state, "hostile.json");
  await writeFile(
    file,
    JSON.stringify({ suite: "hostile", title: "Hostile repositories", source: "made by this test", tasks }),
  );
  return file;
}
