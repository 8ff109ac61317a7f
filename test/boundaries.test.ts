import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ROOMS = ["benchmarks", "workflows", "activities", "workers", "k8s", "results", "scripts"];

/** What each room may import at run time besides itself, packages and Node; types may come from anywhere. */
const MAY_IMPORT: Record<string, (target: string) => boolean> = {
  benchmarks: () => false,
  results: () => false,
  workflows: (target) => target === "results/causes.ts",
  activities: (target) => /^(benchmarks|results)\//.test(target) || target === "workflows/policies.ts",
  workers: (target) =>
    /^(benchmarks|results|activities)\//.test(target) || target === "workflows/policies.ts",
  k8s: (target) => /^(scripts\/stack|activities|workers|benchmarks)\//.test(target),
  scripts: (target) => !target.startsWith("workflows/") || target === "workflows/policies.ts",
};

interface Import {
  file: string;
  specifier: string;
  typeOnly: boolean;
}

async function sources(folder: string): Promise<string[]> {
  const found = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await readFile(join(ROOT, file), "utf8");
  const pattern =
    /^(?:import|export)\s+(type\s)?([^;]*?)from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...text.matchAll(pattern)].map((match) => ({
    file,
    specifier: match[3] ?? match[4] ?? match[5] ?? "",
    typeOnly: match[1] !== undefined || onlyTypes(match[2] ?? ""),
  }));
}

/** `{ type A, type B }` */
function onlyTypes(clause: string): boolean {
  const names = /^\{(.*)\}\s*$/s.exec(clause.trim())?.[1];
  const parts =
    names
      ?.split(",")
      .map((part) => part.trim())
      .filter(Boolean) ?? [];
  return parts.length > 0 && parts.every((part) => part.startsWith("type "));
}

for (const room of ROOMS) {
  test(`${room} imports only what it may`, async (t) => {
    for (const file of await sources(room)) {
      for (const { specifier, typeOnly } of await importsOf(file)) {
        if (!specifier.startsWith(".")) continue;
        const target = relative(ROOT, resolve(ROOT, dirname(file), specifier));
        const inside = target.split("/")[0] === room;
        t.true(inside || typeOnly || MAY_IMPORT[room]?.(target), `${file} imports ${target}`);
      }
    }
  });
}

test("workflow code uses no package but the workflow SDK and nothing of Node", async (t) => {
  for (const file of await sources("workflows")) {
    for (const { specifier, typeOnly } of await importsOf(file)) {
      if (specifier.startsWith(".") || typeOnly) continue;
      t.is(specifier, "@temporalio/workflow", file);
    }
  }
});

test("source files stay under 250 lines", async (t) => {
  for (const room of [...ROOMS, "test"]) {
    for (const file of await sources(room)) {
      const lines = (await readFile(join(ROOT, file), "utf8")).split("\n").length - 1;
      t.true(lines <= 250, `${file} has ${lines} lines`);
    }
  }
});

test("each folder with sources has a README", async (t) => {
  for (const room of ROOMS) {
    const folders = new Set((await sources(room)).map((file) => dirname(file)));
    for (const folder of folders) {
      // A system's folder is explained by its one file; its registry's folder says what such a folder is.
      if (/^(activities|workflows)\/systems\/./.test(folder)) continue;
      const names = await readdir(join(ROOT, folder));
      t.true(names.includes("README.md"), `${folder} has no README.md`);
    }
  }
});
