import { readdir, readFile } from "node:fs/promises";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import test from "ava";
import { bundleWorkflows } from "../workers/bundle.ts";

const FOLDER = new URL("histories/", import.meta.url);

Runtime.install({ logger: new DefaultLogger("ERROR") });

test("recorded histories replay under the present workflows", async (t) => {
  const workflowBundle = await bundleWorkflows();
  const names = await readdir(FOLDER);
  t.true(names.length >= 10);
  for (const name of names) {
    const { workflowId, history } = JSON.parse(await readFile(new URL(name, FOLDER), "utf8"));
    await t.notThrowsAsync(Worker.runReplayHistory({ workflowBundle }, history, workflowId), name);
  }
});
