import type Docker from "dockerode";
import { CausedError } from "../../errors.ts";
import { isStatus, messageOf } from "./client.ts";

export async function hasImage(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getImage(name).inspect();
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
}

/** Waits for the end of what the engine tells of its progress; throws `image_pull` with its error. */
export async function followed(
  docker: Docker,
  stream: NodeJS.ReadableStream,
  tell?: (line: string) => void,
): Promise<{ status?: string; id?: string }[]> {
  return new Promise((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null, messages: { status?: string }[]) =>
        error ? reject(new CausedError("image_pull", messageOf(error), { cause: error })) : resolve(messages),
      ({ status, id }: { status?: string; id?: string }) => tell?.([id, status].filter(Boolean).join(" ")),
    );
  });
}
