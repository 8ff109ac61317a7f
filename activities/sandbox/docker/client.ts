import Docker from "dockerode";
import { CausedError } from "../../errors.ts";
import { Refused } from "../common/refused.ts";

/** Answers of the engine that are no errors of ours: the message, without the modem's frame around it. */
export interface EngineError extends Error {
  statusCode: number;
  json?: { message?: string };
}

const CONNECTION = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "EACCES",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
]);

/** The engine at `host` (as in DOCKER_HOST), else at DOCKER_HOST, else at the default socket. */
export function connectEngine(host?: string): Docker {
  if (host === undefined) return new Docker();
  if (host.startsWith("unix://")) return new Docker({ socketPath: host.slice("unix://".length) });
  const url = new URL(host.includes("//") ? host : `tcp://${host}`);
  const protocol = url.protocol === "ssh:" ? "ssh" : url.protocol === "https:" ? "https" : "http";
  return new Docker({
    host: url.hostname,
    port: url.port,
    protocol,
    ...(url.username && { username: url.username }),
  });
}

/** How the engine is reached, for messages and to know whether it shares this machine's files. */
export async function engineAddress(docker: Docker): Promise<{ text: string; local: boolean }> {
  const modem = docker.modem as {
    socketPath?: string | (() => Promise<string>);
    host?: string;
    port?: string;
  };
  if (modem.host) return { text: `${modem.host}:${modem.port ?? ""}`, local: false };
  const path = typeof modem.socketPath === "function" ? await modem.socketPath() : modem.socketPath;
  return { text: `unix://${path}`, local: true };
}

export function isStatus(error: unknown, ...codes: number[]): error is EngineError {
  return error instanceof Error && codes.includes((error as Partial<EngineError>).statusCode ?? 0);
}

/** The way to the engine, not what was asked of it. A busy or stopping engine answers 5xx. */
export function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && CONNECTION.has(code)) || /socket hang up|aborted/.test(error.message);
}

/** The engine's own words. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ((error as EngineError).json?.message ?? error.message).replaceAll("\n", " ").trim();
}

/** Runs a request whose failure is the engine's: `capacity`, with the remedy. CausedErrors pass, and what a sandbox refuses. */
export async function asked<T>(docker: Docker, what: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof CausedError || error instanceof Refused) throw error;
    const { text } = await engineAddress(docker);
    const remedy = isConnectionFault(error)
      ? ". Remedy: start the engine, or set DOCKER_HOST to the one to use"
      : "";
    throw new CausedError(
      "capacity",
      `${what}: the container engine at ${text}: ${messageOf(error)}${remedy}`,
      {
        cause: error,
      },
    );
  }
}
