import { createHash } from "node:crypto";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import type { BaseRecipe } from "../base/made.ts";
import type { BaseRequest } from "../base/request.ts";
import type { SandboxBase } from "../driver.ts";

/**
 * The image that the cluster's nodes pull. Its digest is the one that the reference is pinned to; of a mere tag, whose
 * content this side never sees, the digest of the name. Throws UsageError for what is no image.
 */
export function kubernetesBase(request: BaseRequest): SandboxBase & { recipe: BaseRecipe } {
  if (request.kind !== "image") {
    throw new UsageError(
      `--base: a cluster pulls images, and this is a ${request.kind} base. Remedy: --base with an image, such as registry.example.org/setup-bench/debian-12@sha256:…`,
    );
  }
  const { reference } = request;
  const [, pinned] = /@sha256:([0-9a-f]{64})$/.exec(reference) ?? [];
  const digest = pinned ?? createHash("sha256").update(reference).digest("hex");
  const recipe = { kind: "image" as const, reference, manifest: pinned ?? "", layers: [], environment: {} };
  return { digest, location: reference, recipe };
}
