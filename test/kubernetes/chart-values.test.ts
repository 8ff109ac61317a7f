import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { parse } from "yaml";
import { CHART, NEEDED, render } from "../support/chart.ts";

const REFUSED: [why: string, values: object, said: RegExp][] = [
  ["no address of Temporal", {}, /temporal\.address: needed, as host:port/],
  ["an address without a port", { temporal: { address: "temporal" } }, /temporal.*address/],
  ["a misspelt key", { ...NEEDED, worker: {} }, /worker/],
  ["a misspelt key deep inside", { ...NEEDED, workers: { general: { replica: 2 } } }, /replica/],
  [
    "a grace that is no number",
    { ...NEEDED, workers: { general: { graceSeconds: "soon" } } },
    /graceSeconds/,
  ],
  [
    "an unknown way to scale",
    { ...NEEDED, workers: { general: { autoscaling: { kind: "magic" } } } },
    /kind/,
  ],
  [
    "fewer pods at most than at least",
    { ...NEEDED, workers: { general: { autoscaling: { minReplicas: 5, maxReplicas: 2 } } } },
    /workers\.general\.autoscaling\.maxReplicas: 2 is less than minReplicas/,
  ],
  [
    "a backlog behind TLS without a key",
    {
      temporal: { ...NEEDED.temporal, tls: true },
      workers: { general: { autoscaling: { kind: "backlog" } } },
    },
    /workers\.general\.autoscaling\.kind: KEDA speaks TLS to Temporal only with temporal\.apiKey/,
  ],
  ["a size that is none", { ...NEEDED, state: { size: "much" } }, /size/],
  [
    "a range that is none",
    { ...NEEDED, sandboxes: { network: { allow: [{ cidr: "proxy.example.org" }] } } },
    /cidr/,
  ],
  [
    "a Pod Security level that lets no sandbox in",
    { ...NEEDED, sandboxes: { namespace: { podSecurity: "restricted" } } },
    /podSecurity/,
  ],
  [
    "sandboxes in the release's own namespace",
    { ...NEEDED, sandboxes: { namespace: { name: "setup-bench" } } },
    /sandboxes\.namespace\.name: setup-bench is the release's own namespace/,
  ],
  ["a variable that the chart sets", { ...NEEDED, environment: { BENCH_STATE: "/tmp" } }, /environment/],
];

for (const [why, values, said] of REFUSED) {
  test(`values are refused: ${why}`, async (t) => {
    await t.throwsAsync(render(values), { message: said });
  });
}

test("every value is explained, and the schema knows all of them", async (t) => {
  const values = parse(await readFile(join(CHART, "values.yaml"), "utf8"));
  const schema = JSON.parse(await readFile(join(CHART, "values.schema.json"), "utf8"));
  t.deepEqual(
    Object.keys(values).sort(),
    Object.keys(schema.properties)
      .filter((key) => key !== "global")
      .sort(),
  );
  const { text } = await render({
    ...NEEDED,
    image: { tag: "1.2.3" },
    environment: { HTTPS_PROXY: "http://p:1" },
  });
  t.regex(text, /image: setup-bench-worker:1\.2\.3/);
  t.regex(text, /name: HTTPS_PROXY, value: "http:\/\/p:1"/);
});
