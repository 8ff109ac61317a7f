import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { UsageError } from "../benchmarks/usage-error.ts";
import type { Workers } from "./worker.ts";

const PING_MS = 3_000;
/** Probes may come from anywhere; the Temporal server is asked at most this often. */
const ANSWER_KEPT_MS = 2_000;

export interface Listen {
  /** An IP address. */
  host: string;
  port: number;
}

export interface Health {
  port: number;
  close(): void;
}

/**
 * `/livez`: 200 unless a worker has failed, which only a restart mends. `/readyz`: 200 when every worker runs and the
 * Temporal server answers; an unreachable server makes a worker unready, never dead. `workers` gives null until they
 * are made. The body says in one line what is amiss.
 */
export async function serveHealth(listen: Listen, workers: () => Workers | null): Promise<Health> {
  const ping = keptPing(workers);
  const server = createServer((request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, "GET only");
    if (path === "/livez") return answerHealth(response, failedWorkers(workers()));
    if (path !== "/readyz") return answer(response, 404, "/livez or /readyz");
    readiness(workers(), ping).then(
      (ailment) => answerHealth(response, ailment),
      (error: Error) => answer(response, 503, error.message),
    );
  });
  server.listen(listen.port, listen.host);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `--health ${listen.host}:${listen.port}: can't be listened at (${error.code}); name another address`,
    );
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function failedWorkers(workers: Workers | null): string | null {
  const failed = workers?.states().filter(({ state }) => state === "FAILED") ?? [];
  return failed.length === 0 ? null : `${failed.map(({ queue }) => queue).join(", ")}: FAILED`;
}

async function readiness(
  workers: Workers | null,
  ping: () => Promise<string | null>,
): Promise<string | null> {
  if (workers === null) return "starting";
  const others = workers.states().filter(({ state }) => state !== "RUNNING");
  if (others.length > 0) return others.map(({ queue, state }) => `${queue}: ${state}`).join(", ");
  return ping();
}

/** Null when the server answers, else why not; one question at a time, whoever asks. */
function keptPing(workers: () => Workers | null): () => Promise<string | null> {
  let kept: { at: number; answer: Promise<string | null> } | null = null;
  return () => {
    const now = performance.now();
    if (kept === null || now - kept.at > ANSWER_KEPT_MS + PING_MS) {
      const asked = workers()?.ping(PING_MS) ?? Promise.resolve();
      const answer = asked.then(
        () => null,
        (error: Error) => `Temporal does not answer: ${error.message}`,
      );
      kept = { at: now, answer };
    }
    return kept.answer;
  };
}

function answerHealth(response: ServerResponse, ailment: string | null): void {
  answer(response, ailment === null ? 200 : 503, ailment ?? "ok");
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${text.replaceAll(/\s*\n\s*/g, " · ")}\n`);
}
