import { dockerDriver } from "../activities/sandbox/docker/driver.ts";
import type { SandboxDriver } from "../activities/sandbox/driver.ts";
import { kubernetesDriver } from "../activities/sandbox/kubernetes/driver.ts";
import { localDriver } from "../activities/sandbox/local/driver.ts";
import type { SweepPlan } from "../benchmarks/sweep-plan.ts";
import type { DriverPlan } from "../workflows/types.ts";

/** What of a sweep's plan decides its driver. */
export interface DriverWish {
  driver: SweepPlan["lock"]["driver"];
  pods: SweepPlan["lock"]["pods"];
  engine: SweepPlan["settings"]["engine"];
  cluster: SweepPlan["settings"]["cluster"];
  /** Image of the sandboxes, where the driver works with images; null: not known yet. */
  image: string | null;
}

interface Around {
  stateFolder: string;
  host: string;
  server: string;
}

/** The drivers of this process, made when they are first asked for and one for each wish: they keep connections. */
export function driversOf(around: Around): (plan: DriverPlan) => SandboxDriver {
  const made = new Map<string, SandboxDriver>();
  return ({ lock, settings }) => {
    const wish: DriverWish = {
      driver: lock.driver,
      pods: lock.pods,
      engine: settings.engine,
      cluster: settings.cluster,
      image: settings.base_location,
    };
    const key = JSON.stringify(wish);
    const driver = made.get(key) ?? makeDriver(wish, around);
    made.set(key, driver);
    return driver;
  };
}

/** Throws UsageError when there is no engine or cluster to be found. */
export function makeDriver(
  { driver, pods, engine, cluster, image }: DriverWish,
  around: Around,
): SandboxDriver {
  if (driver === "local") return localDriver(around);
  if (driver === "docker") return dockerDriver({ ...around, ...(engine !== null && { engine }) });
  if (pods === null || cluster === null) throw new Error("a plan for kubernetes without pods or cluster");
  return kubernetesDriver({
    installation: around.server,
    stateFolder: around.stateFolder,
    kubeconfig: cluster.kubeconfig,
    context: cluster.context,
    namespace: cluster.namespace,
    template: pods.template,
    userNamespaces: pods.user_namespaces,
    headroom: pods.headroom,
    capacitySeconds: cluster.capacity_seconds,
    warm: cluster.warm_pods,
    onWait: (message) => void process.stderr.write(`${message}\n`),
    unreachable: cluster.unreachable,
    image,
  });
}
