import { Readable } from "node:stream";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import { beginInput } from "../contained/begin.ts";
import { parseAnswer } from "../contained/frame.ts";
import { call } from "../contained/layout.ts";
import { probeSpec } from "../contained/probe-spec.ts";
import { messageOf } from "./client.ts";
import { execInContainer } from "./exec.ts";
import { BASE, commitContainer } from "./frame-images.ts";
import { followed, hasImage } from "./images.ts";
import { containerName, IMAGES } from "./names.ts";
import { provideContainer } from "./provide.ts";
import { removeSandbox } from "./remove.ts";
import { providedBy, type Rights } from "./rights.ts";

/** From what is best to what every engine allows. */
const CHOICES: readonly Rights[] = [
  { snapshots: "layers", loopDevices: true },
  { snapshots: "layers", loopDevices: false },
  { snapshots: "commit", loopDevices: false },
  { snapshots: "rebuild", loopDevices: false },
];
const IMAGE = `${IMAGES}:probe`;

export interface Found {
  rights: Rights;
  /** What was refused on the way, for whoever asks why it is not better. */
  refused: string[];
}

/** Finds what the engine lets a sandbox do, by beginning real ones without any files in them. */
export async function findRights(
  docker: Docker,
  most: Rights["snapshots"],
  options: { installation: string; binary: string; local: boolean },
): Promise<Found> {
  await importProbeImage(docker);
  const refused: string[] = [];
  const first = CHOICES.findIndex(({ snapshots }) => snapshots === most);
  for (const rights of CHOICES.slice(first)) {
    const problem = await tryRights(docker, rights, options);
    if (problem === null) return { rights, refused };
    refused.push(`${JSON.stringify(rights)}: ${problem}`);
  }
  throw new Error(`the engine runs no sandbox at all: ${refused.at(-1)}`);
}

async function tryRights(
  docker: Docker,
  rights: Rights,
  options: { installation: string; binary: string; local: boolean },
): Promise<string | null> {
  const spec = probeSpec(IMAGE);
  const name = containerName(options.installation, spec.id);
  const container = docker.getContainer(name);
  const keeper = { docker, installation: options.installation, id: spec.id };
  try {
    await provideContainer(spec, { docker, name, rights, ...options });
    const provided = providedBy({ driver: "docker", id: spec.id, host: "" }, rights, []);
    const answer = parseAnswer(await execInContainer(container, call("begin"), beginInput(spec, provided)));
    if (answer.status !== "ok") return answer.body.toString();
    if (rights.snapshots === "commit") await commitContainer(keeper, name, "main", BASE);
    return null;
  } catch (error) {
    return messageOf(error);
  } finally {
    await removeSandbox(keeper).catch((error) => {
      process.emitWarning(`the probe container ${name} is left behind: ${messageOf(error)}`);
    });
  }
}

async function importProbeImage(docker: Docker): Promise<void> {
  if (await hasImage(docker, IMAGE)) return;
  const tar = pack();
  tar.entry({ name: "etc/", type: "directory", mode: 0o755 });
  tar.finalize();
  const [repo, tag] = IMAGE.split(":");
  const stream = await docker.importImage(Readable.from(tar), { repo, tag });
  await followed(docker, stream);
}
