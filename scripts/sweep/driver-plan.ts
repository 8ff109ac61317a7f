import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { readTemplate } from "../../activities/sandbox/kubernetes/pod-template.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import type { CommonOptions, DriverName, DriverOptions } from "../cli/options.ts";

export interface DriverPlan {
  driver: DriverName;
  pods: SweepPlan["lock"]["pods"];
  engine: string | null;
  cluster: SweepPlan["settings"]["cluster"];
}

/** What the plan says of its driver. Throws UsageError naming the pod template's file and key. */
export async function driverPlan(options: CommonOptions & DriverOptions): Promise<DriverPlan> {
  const { driver } = options;
  // A worker has an environment of its own: what the caller's says of engine and cluster goes into the plan.
  if (driver === "docker") {
    const engine = options.dockerHost ?? process.env.DOCKER_HOST ?? DEFAULT_ENGINE;
    return { driver, pods: null, engine, cluster: null };
  }
  if (driver === "local") return { driver, pods: null, engine: null, cluster: null };
  const template = options.podTemplate === undefined ? {} : await readTemplate(options.podTemplate);
  return {
    driver,
    engine: null,
    pods: {
      template: template as Record<string, unknown>,
      user_namespaces: options.userNamespaces,
      headroom: options.headroom,
    },
    cluster: {
      // Workers elsewhere know their cluster themselves.
      kubeconfig: options.workers === "elsewhere" ? null : kubeconfigOf(options.kubeconfig),
      context: options.kubeContext ?? null,
      namespace: options.kubeNamespace ?? null,
      capacity_seconds: options.capacitySeconds,
      warm_pods: options.warmPods,
      unreachable: options.unreachable,
    },
  };
}

const DEFAULT_ENGINE = "unix:///var/run/docker.sock";

/** Absolute; null in a pod, whose own service account then counts. Of several files in KUBECONFIG the first that is there. */
function kubeconfigOf(given: string | undefined): string | null {
  const named = given ?? process.env.KUBECONFIG?.split(delimiter).find(existsSync);
  if (named) return resolve(named);
  const usual = join(homedir(), ".kube", "config");
  return existsSync(usual) ? usual : null;
}
