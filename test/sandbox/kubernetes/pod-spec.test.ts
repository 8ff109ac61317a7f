import test from "ava";
import fc from "fast-check";
import type { SandboxSpec } from "../../../activities/sandbox/driver.ts";
import { labelValue, podName } from "../../../activities/sandbox/kubernetes/names.ts";
import { type PodSettings, podManifest } from "../../../activities/sandbox/kubernetes/pod-spec.ts";

const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const LABEL_KEY = /^([a-z0-9.-]+\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

const specs: fc.Arbitrary<SandboxSpec> = fc.record({
  id: fc.string({ minLength: 1, unit: "grapheme" }),
  owner: fc.record({
    server: fc.string(),
    sweep: fc.string({ unit: "grapheme" }),
    run: fc.string({ unit: "grapheme" }),
    attempt: fc.nat(),
    workflow: fc.string({ unit: "grapheme" }),
  }),
  base: fc.record({ digest: fc.string(), location: fc.constant("registry/image:1") }),
  limits: fc.record({
    memoryBytes: fc.integer({ min: 1 << 20, max: 2 ** 40 }),
    processes: fc.integer({ min: 1, max: 100_000 }),
    diskBytes: fc.integer({ min: 1 << 20, max: 2 ** 45 }),
    cpus: fc.double({ min: 0.01, max: 128, noNaN: true }),
    deadlineSeconds: fc.double({ min: 1, max: 1e6, noNaN: true }),
  }),
  network: fc.constantFrom("on", "off"),
  environment: fc.constant({}),
  mounts: fc.constant([]),
});

const settings: fc.Arbitrary<PodSettings> = fc.record({
  installation: fc.string({ unit: "grapheme" }),
  privilege: fc.record({
    mounts: fc.boolean(),
    userNamespace: fc.boolean(),
    seccomp: fc.constantFrom("RuntimeDefault", "Unconfined"),
  }),
  program: fc.constant("program"),
  template: fc.constant({}),
  headroom: fc.double({ min: 1, max: 10, noNaN: true }),
  mounts: fc.constantFrom(null, { size: 5_000_000, sha256: "0".repeat(64) }),
  waitSeconds: fc.nat(),
  parent: fc.constantFrom(null, { name: "sweep", uid: "1" }),
});

test("any ids give a pod with names, labels and quantities that Kubernetes takes", (t) => {
  fc.assert(
    fc.property(specs, settings, (spec, options) => {
      const pod = podManifest(podName(options.installation, spec.id), spec, options);
      t.regex(pod.metadata?.name ?? "", /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/);
      for (const [key, value] of Object.entries(pod.metadata?.labels ?? {})) {
        t.regex(key, LABEL_KEY);
        t.regex(value, LABEL_VALUE);
      }
      const { requests = {}, limits = {} } = pod.spec?.containers[0]?.resources ?? {};
      for (const quantity of [...Object.values(requests), ...Object.values(limits)])
        t.regex(quantity, /^[1-9]\d*m?$/);
      for (const [name, request] of Object.entries(requests)) {
        t.true(Number.parseInt(request, 10) <= Number.parseInt(limits[name] ?? "0", 10), name);
      }
      t.deepEqual(JSON.parse(pod.metadata?.annotations?.["setup-bench/owner"] ?? ""), spec.owner);
      t.is(pod.metadata?.annotations?.["setup-bench/id"], spec.id);
    }),
    { numRuns: 60 },
  );
});

test("no pod has a token, the node's namespaces or more than the listed capabilities", (t) => {
  fc.assert(
    fc.property(specs, settings, (spec, options) => {
      const { spec: pod } = podManifest("name", spec, options);
      t.like(pod, { restartPolicy: "Never", automountServiceAccountToken: false, enableServiceLinks: false });
      for (const key of ["hostNetwork", "hostPID", "hostIPC"] as const) t.is(pod?.[key], undefined);
      t.is(pod?.hostUsers, options.privilege.userNamespace ? false : undefined);
      const security = pod?.containers[0]?.securityContext;
      t.like(security, { privileged: false, capabilities: { drop: ["ALL"] } });
      t.is(security?.capabilities?.add?.includes("SYS_ADMIN"), options.privilege.mounts);
      t.is(security?.procMount === "Unmasked", options.privilege.mounts && options.privilege.userNamespace);
    }),
    { numRuns: 60 },
  );
});

test("different ids and installations give different names, and long or odd values different labels", (t) => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (installation, one, other) => {
      t.is(podName(installation, one) === podName(installation, other), one === other);
      t.is(labelValue(one) === labelValue(other), one === other);
    }),
  );
});
