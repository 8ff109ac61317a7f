import {
  GENERAL_QUEUE,
  hostQueue,
  KUBERNETES_HOST,
  MODEL_QUEUE,
  openingQueue,
} from "../workflows/policies.ts";

/**
 * What a worker process can serve. `general`: workflows, activities that need no sandbox, and calls of models. `host`: sandboxes that this
 * machine holds. `kubernetes`: pods, which any worker reaches that has the cluster's credentials and the state folder.
 */
export const ROLES = ["general", "host", "kubernetes"] as const;

export type Role = (typeof ROLES)[number];

/** The task queues of a role; `host` is the machine's name in host task queues. */
export function queuesOf(role: Role, host: string): string[] {
  if (role === "general") return [GENERAL_QUEUE, MODEL_QUEUE];
  const holder = role === "kubernetes" ? KUBERNETES_HOST : host;
  return [hostQueue(holder), openingQueue(holder)];
}
