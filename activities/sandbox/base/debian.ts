import { createHash } from "node:crypto";
import { chmod, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import { CausedError } from "../../errors.ts";
import { type BaseMaker, type MadeBase, type MakeOptions, SCRATCH_LINK } from "./made.ts";
import { runTool } from "./tool.ts";

/** Raised when anything below changes what is made. */
const RECIPE_VERSION = 1;
const SUITE = "bookworm";
const VARIANT = "minbase";
const INCLUDE = [
  "build-essential",
  "ca-certificates",
  "curl",
  "git",
  "python3",
  "python3-dev",
  "python3-pip",
  "python3-venv",
];
const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };

/**
 * What a container image of Debian has and mmdebstrap leaves out: no service starts by being installed, names of the
 * machine that made it are gone, and `localhost` has an address.
 */
const CUSTOMIZE = `set -e
printf '#!/bin/sh\\nexit 101\\n' > "$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"
echo sandbox > "$1/etc/hostname"; : > "$1/etc/resolv.conf"
printf '127.0.0.1\\tlocalhost\\n::1\\tlocalhost ip6-localhost ip6-loopback\\n' > "$1/etc/hosts"`;

const REMEDY = "apt-get install mmdebstrap";

/** The default base: Debian with Python, git and a compiler (about 600 MB, half a minute to a minute). */
export function debianMaker(): BaseMaker {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const given = { version: RECIPE_VERSION, suite: SUITE, variant: VARIANT, architecture, include: INCLUDE };
  return {
    key: async () => canonicalJson({ kind: "debian", ...given }),
    async make(work, options): Promise<MadeBase> {
      const tar = join(work, "root.tar");
      options.progress?.(
        `making Debian ${SUITE} with ${INCLUDE.length} packages and what they need (about a minute)`,
      );
      await mmdebstrap(tar, work, options);
      const recipe = { kind: "debian" as const, ...given, packages: await installedPackages(tar) };
      return { tar, recipe, digest: createHash("sha256").update(canonicalJson(recipe)).digest("hex") };
    },
  };
}

async function mmdebstrap(tar: string, work: string, options: MakeOptions): Promise<void> {
  const args = [
    `--variant=${VARIANT}`,
    `--include=${INCLUDE.join(",")}`,
    "--dpkgopt=force-unsafe-io",
    `--customize-hook=${CUSTOMIZE}`,
    "--format=tar",
  ];
  const line = (text: string) => {
    const stage = /^I: ((?:downloading|extracting|installing|creating) .*)/.exec(text)?.[1];
    if (stage) options.progress?.(stage);
  };
  const common = { remedy: REMEDY, signal: options.signal, line };
  if (process.getuid?.() === 0) {
    // Its mounts and processes live in namespaces of their own, which end with it however it ends.
    const confined = [
      "--mount",
      "--pid",
      "--fork",
      "--kill-child",
      "--mount-proc",
      "--propagation",
      "private",
    ];
    const command = [...confined, "mmdebstrap", "--mode=root", ...args, SUITE, tar];
    await runTool("unshare", command, { ...common, environment: { TMPDIR: work } });
  } else {
    // Under the OS's temporary folder: a home folder need not be open to its owner's subordinate ids.
    const scratch = await mkdtemp(join(tmpdir(), "bench-base-"));
    await symlink(scratch, join(work, SCRATCH_LINK));
    await chmod(scratch, 0o1777);
    const environment = { TMPDIR: scratch };
    await runTool("mmdebstrap", ["--mode=unshare", ...args, SUITE, tar], {
      ...common,
      group: true,
      environment,
    });
  }
}

async function installedPackages(tar: string): Promise<Record<string, string>> {
  const status = await runTool("tar", ["-xOf", tar, "./var/lib/dpkg/status"], {
    remedy: "apt-get install tar",
  });
  const packages: Record<string, string> = {};
  for (const paragraph of status.split("\n\n")) {
    const name = /^Package: (.+)$/m.exec(paragraph)?.[1];
    const version = /^Version: (.+)$/m.exec(paragraph)?.[1];
    if (name && version && /^Status: .* installed$/m.test(paragraph)) packages[name] = version;
  }
  if (Object.keys(packages).length === 0)
    throw new CausedError("image_pull", `${tar} lists no installed packages`);
  return packages;
}
