import type { IncomingMessage } from "node:http";
import type { V1Status } from "@kubernetes/client-node";
import WebSocket from "ws";
import type { Cluster } from "./client.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { CONTAINER } from "./names.ts";

/** What a call's standard input is: bytes, or a stream of them that is read no faster than the socket takes it. */
export type Input = Uint8Array | AsyncIterable<Uint8Array> | null;

export interface Executed {
  exit: number;
  stdout: Buffer;
  stderr: string;
}

/**
 * The call did not come to its end, or its end is not known: the command may or may not have run.
 * `status`: the HTTP status of a refused handshake, else null.
 */
export class ExecFault extends Error {
  override readonly name = "ExecFault";
  readonly status: number | null;

  constructor(message: string, status: number | null = null, options?: { cause?: unknown }) {
    super(message, options);
    this.status = status;
  }
}

export interface ExecLimits {
  /** Milliseconds without a byte in either direction. A lost socket never says so by itself (measured). */
  silence: number;
  handshake: number;
  outputBytes: number;
}

const LIMITS: ExecLimits = { silence: 75_000, handshake: 20_000, outputBytes: 16 << 20 };
/** Older protocols have no structured status: their exit codes are lost. */
const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const [STDIN, STDOUT, STDERR, STATUS] = [0, 1, 2, 3] as const;
const FRAME_BYTES = 64 << 10;
/** The socket's own buffer is unbounded: who writes must look at it. */
const BUFFERED_BYTES = 1 << 20;
const STDERR_BYTES = 64 << 10;

/**
 * One short command in a pod's container, without a terminal. Standard input is never closed: before protocol 5 that
 * closes the socket and loses the status (kubernetes-client/javascript#465), so commands must know how much they read,
 * and must read it all: the server never tells the end of one that left some of a large input unread.
 * Throws ExecFault, also when the socket closes without a status (kubernetes-client/javascript#2133).
 */
export async function execInPod(
  cluster: Cluster,
  pod: string,
  argv: readonly string[],
  input: Input,
  limits: ExecLimits = LIMITS,
): Promise<Executed> {
  const config = cluster.config();
  try {
    return await converse(await open(cluster, config, pod, argv, input !== null, limits), input, limits);
  } catch (error) {
    if (!(error instanceof ExecFault && error.status === 401)) throw error;
    // A rotated token: refused before anything ran.
    cluster.renew(config);
    return converse(await open(cluster, cluster.config(), pod, argv, input !== null, limits), input, limits);
  }
}

async function open(
  { server, namespace }: Cluster,
  config: ClusterConfig,
  pod: string,
  argv: readonly string[],
  stdin: boolean,
  limits: ExecLimits,
): Promise<WebSocket> {
  const query = new URLSearchParams({
    container: CONTAINER,
    stdout: "true",
    stderr: "true",
    stdin: String(stdin),
  });
  for (const word of argv) query.append("command", word);
  const url = `${server.replace(/^http/, "ws")}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`;
  const { headers, agent, tls } = await config.credentials();
  const { auth: _, ...options } = tls;
  const socket = new WebSocket(url, PROTOCOLS, {
    ...(options as object),
    headers,
    agent,
    handshakeTimeout: limits.handshake,
    perMessageDeflate: false,
    maxPayload: limits.outputBytes,
  });
  socket.binaryType = "nodebuffer";
  return socket;
}

async function converse(socket: WebSocket, input: Input, limits: ExecLimits): Promise<Executed> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const kept = { stdout: 0, stderr: 0 };
  let timer: NodeJS.Timeout | undefined;
  try {
    const status = await new Promise<V1Status>((resolve, reject) => {
      const alive = () => {
        clearTimeout(timer);
        timer = setTimeout(
          () => reject(new ExecFault(`silence for ${limits.silence / 1000} s`)),
          limits.silence,
        );
      };
      alive();
      socket.on("open", () => {
        alive();
        if (input !== null) feed(socket, input, alive).catch(reject);
      });
      socket.on("message", (data: Buffer) => {
        alive();
        const [stream, chunk] = [data[0], data.subarray(1)];
        if (stream === STATUS) return settle(chunk, resolve, reject);
        if (stream === STDOUT) stdout.push(chunk);
        else if (stream === STDERR && kept.stderr < STDERR_BYTES) stderr.push(chunk);
        kept[stream === STDOUT ? "stdout" : "stderr"] += chunk.length;
        if (kept.stdout > limits.outputBytes)
          reject(new ExecFault(`an answer of more than ${limits.outputBytes} bytes`));
      });
      socket.on("unexpected-response", (_, response) => void refuse(response).then(reject, reject));
      socket.on("error", (error) =>
        reject(new ExecFault(`the connection failed: ${error.message}`, null, { cause: error })),
      );
      socket.on("close", (code, reason) =>
        reject(new ExecFault(`closed without a status (${code} ${reason})`)),
      );
    });
    return { exit: exitOf(status), stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } finally {
    clearTimeout(timer);
    // `close` waits up to 30 s for the other side.
    socket.terminate();
  }
}

async function feed(socket: WebSocket, input: Exclude<Input, null>, alive: () => void): Promise<void> {
  for await (const chunk of input instanceof Uint8Array ? [input] : input) {
    for (let at = 0; at < chunk.length; at += FRAME_BYTES) {
      const frame = Buffer.concat([Buffer.of(STDIN), chunk.subarray(at, at + FRAME_BYTES)]);
      // The command may have ended before it read all.
      if (socket.readyState !== WebSocket.OPEN) return;
      const sent = new Promise<void>((resolve) => socket.send(frame, () => resolve()));
      if (socket.bufferedAmount > BUFFERED_BYTES) await sent;
      alive();
    }
  }
}

function settle(chunk: Buffer, resolve: (status: V1Status) => void, reject: (error: Error) => void): void {
  try {
    resolve(JSON.parse(chunk.toString()) as V1Status);
  } catch (error) {
    reject(
      new ExecFault(`a status that is no JSON: ${chunk.toString().slice(0, 200)}`, null, { cause: error }),
    );
  }
}

function exitOf({ status, reason, message, details }: V1Status): number {
  if (status === "Success") return 0;
  const code = details?.causes?.find((cause) => cause.reason === "ExitCode")?.message;
  if (reason === "NonZeroExitCode" && code !== undefined) return Number(code);
  throw new ExecFault(message ?? reason ?? "a status without an exit code");
}

/** The body of a refused handshake says why: no such pod, container not running, no rights. */
async function refuse(response: IncomingMessage): Promise<ExecFault> {
  let body = "";
  for await (const chunk of response) {
    body += chunk;
    if (body.length > 10_000) break;
  }
  const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? body.slice(0, 300);
  return new ExecFault(message || `HTTP ${response.statusCode}`, response.statusCode ?? null);
}
