import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type Docker from "dockerode";
import { CausedError } from "../../errors.ts";
import type { BaseRecipe } from "../base/made.ts";
import type { SandboxBase } from "../driver.ts";
import { isConnectionFault, isStatus, messageOf } from "./client.ts";
import { followed } from "./images.ts";

const DOCKER_HUB = "https://index.docker.io/v1/";

/** An image of the engine, pulled by it when it is not there: a tag, once fetched, is not looked up again. */
export async function pullImage(
  docker: Docker,
  reference: string,
  options: { progress?: (line: string) => void },
): Promise<SandboxBase & { recipe: BaseRecipe }> {
  const image = (await known(docker, reference)) ?? (await pulled(docker, reference, options));
  const [named] = image.RepoDigests ?? [];
  const manifest = (named?.split("@")[1] ?? image.Id).replace("sha256:", "");
  const environment = Object.fromEntries(
    (image.Config.Env ?? []).map((line) => [
      line.slice(0, line.indexOf("=")),
      line.slice(line.indexOf("=") + 1),
    ]),
  );
  const layers = (image.RootFS.Layers ?? []).map((layer) => layer.replace("sha256:", ""));
  const recipe = { kind: "image" as const, reference, manifest, layers, environment };
  return { digest: manifest, location: named ?? image.Id, recipe };
}

async function known(docker: Docker, reference: string): Promise<Docker.ImageInspectInfo | null> {
  try {
    return await docker.getImage(reference).inspect();
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

async function pulled(
  docker: Docker,
  reference: string,
  { progress }: { progress?: (line: string) => void },
): Promise<Docker.ImageInspectInfo> {
  progress?.(`the engine pulls ${reference}`);
  const name = /[@:][^/]*$/.test(reference) ? reference : `${reference}:latest`;
  try {
    const key = await login(name);
    const stream = await docker.pull(name, key === null ? {} : { authconfig: { base64: key } });
    await followed(docker, stream);
  } catch (error) {
    if (isConnectionFault(error)) throw error;
    const message = `the engine can't pull ${reference}: ${messageOf(error)}. Remedy: docker pull ${reference}`;
    throw new CausedError("image_pull", message, { cause: error });
  }
  return docker.getImage(reference).inspect();
}

/** The user's own login at the registry, as the engine wants it; those of credential helpers are not asked for. */
async function login(reference: string): Promise<string | null> {
  const [first = ""] = reference.split("/");
  const registry = reference.includes("/") && /[.:]|^localhost$/.test(first) ? first : DOCKER_HUB;
  const file = join(process.env.DOCKER_CONFIG || join(homedir(), ".docker"), "config.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const { auths = {} } = JSON.parse(text) as { auths?: Record<string, { auth?: string }> };
  const auth = auths[registry]?.auth ?? auths[`https://${registry}`]?.auth;
  if (!auth) return null;
  const [username = "", ...password] = Buffer.from(auth, "base64").toString().split(":");
  const config = { username, password: password.join(":"), serveraddress: registry };
  return Buffer.from(JSON.stringify(config)).toString("base64url");
}
