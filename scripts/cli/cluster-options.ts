import { type Command, InvalidArgumentError } from "commander";
import { list } from "./lists.ts";
import { option, seconds } from "./options.ts";
import { number, wholeNumber } from "./values.ts";

/** What `--driver kubernetes` takes besides. */
export interface ClusterOptions {
  kubeconfig?: string;
  kubeContext?: string;
  kubeNamespace?: string;
  podTemplate?: string;
  userNamespaces: "auto" | "required" | "off";
  headroom: number;
  capacitySeconds: number;
  warmPods: number;
  unreachable: string[];
}

export function addClusterOptions(command: Command): Command {
  return command
    .addOption(
      option(
        "--kubeconfig <file>",
        "kubeconfig of the cluster, else KUBECONFIG, ~/.kube/config or a pod's own",
      ),
    )
    .addOption(option("--kube-context <name>", "context of the kubeconfig, else its current one"))
    .addOption(option("--kube-namespace <name>", "namespace of the sandboxes' pods, else the context's"))
    .addOption(option("--pod-template <file>", "YAML fragment that is merged into every sandbox's pod"))
    .addOption(
      option("--user-namespaces <how>", "user namespaces of pods: where the cluster has them, always, never")
        .choices(["auto", "required", "off"])
        .default("auto"),
    )
    .addOption(
      option("--headroom <n>", "a pod requests its limits of memory and CPU divided by this")
        .argParser(number(1, 1_000))
        .default(2.5),
    )
    .addOption(seconds("--capacity-seconds", "time that a pod may wait for room in the cluster", 3_600))
    .addOption(
      option("--warm-pods <n>", "pods kept ready ahead of need, for each kind of sandbox")
        .argParser(wholeNumber(0, 1_000))
        .default(0),
    )
    .addOption(
      option("--unreachable <networks>", "networks a.b.c.d/n that pods must not reach, separated by commas")
        .argParser(networks)
        .default([]),
    );
}

function networks(text: string, before: string[] = []): string[] {
  const all = list(text, before);
  const wrong = all.find((network) => !/^(\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/.test(network));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is not of the form a.b.c.d/n.`);
  return all;
}
