import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import * as http from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { CausedError } from "../errors.ts";
import type { Limits } from "./limits.ts";
import { type Address, redact } from "./mirrors.ts";

interface Answer {
  /** Where redirects ended; relative addresses are taken from here. */
  url: string;
  contentType: string;
  body: Readable;
}

let proxied = false;

/**
 * Gets an address. 404, 410 and 451 are source_vanished, everything else that is no success source_unavailable.
 * Extra certificates come from NODE_EXTRA_CA_CERTS (read by Node at its start), proxies from the usual variables.
 */
async function get(address: Address, what: string, limits: Limits, accept = "*/*"): Promise<Answer> {
  const url = new URL(address.url);
  if (address.mirrored && url.protocol === "file:") {
    return { url: url.href, contentType: "", body: createReadStream(fileURLToPath(url)) };
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new CausedError(
      "source_vanished",
      `${what}: ${url.protocol} addresses are not fetched; use http, https or a mirror rule`,
    );
  }
  useProxies();
  const headers: Record<string, string> = { accept, "accept-encoding": "identity" };
  if (url.username !== "") headers.authorization = basic(url);
  url.username = "";
  url.password = "";
  const response = await request(url, headers, what, limits);
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    const cause = [404, 410, 451].includes(response.status) ? "source_vanished" : "source_unavailable";
    throw new CausedError(
      cause,
      `${what}: ${redact(url.href)} answers ${response.status} ${response.statusText}`,
    );
  }
  return {
    url: response.url,
    contentType: response.headers.get("content-type") ?? "",
    body: Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
  };
}

/** The text of a page, and where it was found. */
export async function getText(address: Address, what: string, limits: Limits, accept: string) {
  const answer = await get(address, what, limits, accept);
  const chunks: Buffer[] = [];
  await guarded(what, limits, async () => {
    for await (const chunk of answer.body) {
      limits.received((chunk as Buffer).length);
      chunks.push(chunk as Buffer);
    }
  });
  return { url: answer.url, contentType: answer.contentType, text: Buffer.concat(chunks).toString("utf8") };
}

/** Downloads into `file` and returns the sha256 of what came. */
export async function download(
  address: Address,
  file: string,
  what: string,
  limits: Limits,
): Promise<string> {
  const { body } = await get(address, what, limits);
  const hash = createHash("sha256");
  async function* counted(stream: AsyncIterable<Buffer>) {
    for await (const chunk of stream) {
      limits.received(chunk.length);
      hash.update(chunk);
      yield chunk;
    }
  }
  const into = createWriteStream(file, { flags: "wx" });
  await guarded(what, limits, () => pipeline(body, counted, into, { signal: limits.signal }));
  return hash.digest("hex");
}

/** Node's own fetch; whatever breaks on the way is trouble with the network. */
function request(url: URL, headers: Record<string, string>, what: string, limits: Limits): Promise<Response> {
  return guarded(what, limits, () => fetch(url, { headers, signal: limits.signal }));
}

async function guarded<T>(what: string, limits: Limits, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    limits.signal.throwIfAborted();
    if (error instanceof CausedError) throw error;
    const gone = (error as NodeJS.ErrnoException).code === "ENOENT";
    const { message, cause } = error as Error;
    const detail = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw new CausedError(gone ? "source_vanished" : "source_unavailable", `${what}: ${detail}`, {
      cause: error,
    });
  }
}

function basic(url: URL): string {
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** Node's fetch ignores HTTP_PROXY and its like until it is told to look; it is told once, for the whole process. */
function useProxies(): void {
  if (proxied) return;
  proxied = true;
  const wanted = ["http_proxy", "https_proxy"].some(
    (name) => process.env[name] || process.env[name.toUpperCase()],
  );
  if (wanted) http.setGlobalProxyFromEnv();
}
