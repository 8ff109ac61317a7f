import { readTemplate } from "../../activities/sandbox/kubernetes/pod-template.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import type { DriverName, DriverOptions } from "../cli/options.ts";

export interface DriverPlan {
  driver: DriverName;
  pods: SweepPlan["lock"]["pods"];
  cluster: SweepPlan["settings"]["cluster"];
}

/** What the plan says of its driver. Throws UsageError naming the pod template's file and key. */
export async function driverPlan(options: DriverOptions): Promise<DriverPlan> {
  const { driver } = options;
  if (driver !== "kubernetes") return { driver, pods: null, cluster: null };
  const template = options.podTemplate === undefined ? {} : await readTemplate(options.podTemplate);
  return {
    driver,
    pods: {
      template: template as Record<string, unknown>,
      user_namespaces: options.userNamespaces,
      headroom: options.headroom,
    },
    cluster: {
      kubeconfig: options.kubeconfig ?? null,
      context: options.kubeContext ?? null,
      namespace: options.kubeNamespace ?? null,
      capacity_seconds: options.capacitySeconds,
      unreachable: options.unreachable,
    },
  };
}
