import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { initBinary } from "../../activities/sandbox/common/init-binary.ts";
import { bundleWorkflows } from "../../workers/bundle.ts";

/** Puts what a worker would compile at its start beside the sources: the workflows' bundle and sandbox-init. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const { code } = await bundleWorkflows();
await mkdir(join(ROOT, "workers", "built"));
await writeFile(join(ROOT, "workers", "built", "workflows.js"), code);

const temporary = await mkdtemp(join(tmpdir(), "prebuild-"));
const binary = await initBinary(temporary);
const brought = join(ROOT, "activities", "sandbox", "init", "built");
await mkdir(brought);
await copyFile(binary, join(brought, basename(binary)));
await rm(temporary, { recursive: true });
