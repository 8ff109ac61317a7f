import { existsSync } from "node:fs";
import type { Agent as HttpsAgent, RequestOptions } from "node:https";
import { KubeConfig, type RequestContext } from "@kubernetes/client-node";
import { Agent, type Dispatcher } from "undici";
import { UsageError } from "../../../benchmarks/usage-error.ts";

export interface ClusterOptions {
  /** Path of a kubeconfig file; null: KUBECONFIG, ~/.kube/config, or the pod's own service account. */
  kubeconfig: string | null;
  /** Null: the file's current one. */
  context: string | null;
}

/** The library has no time-out of its own (kubernetes-client/javascript#1613): a call into a cut network never ends. */
const CALL_MS = 30_000;
const SOCKETS = 24;

/** What TLS and headers a request needs, as the library's own options carry them. */
export interface Credentials {
  headers: Record<string, string>;
  /** For WebSockets; the library keeps one for each cluster and user. */
  agent: HttpsAgent;
  tls: RequestOptions;
}

/**
 * The library's configuration with one dispatcher for all calls: a new one for each request leaks sockets and file
 * descriptors (kubernetes-client/javascript#2893).
 */
export class ClusterConfig extends KubeConfig {
  #shared: { dispatcher: Dispatcher; tls: string } | null = null;

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    const { headers } = await this.credentials();
    for (const [name, value] of Object.entries(headers)) context.setHeaderParam(name, value);
    context.setDispatcher(await this.dispatcher());
    context.setSignal(AbortSignal.timeout(CALL_MS));
  }

  /** Read for each request: tokens rotate, credential plug-ins hand out short-lived certificates. */
  async credentials(): Promise<Credentials> {
    const options: RequestOptions = {};
    await this.applyToHTTPSOptions(options);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
    if (typeof options.auth === "string") {
      headers.Authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`;
    }
    return { headers, agent: options.agent as HttpsAgent, tls: options };
  }

  /** Made anew only when the certificates have changed. */
  async dispatcher(): Promise<Dispatcher> {
    const { tls } = await this.credentials();
    const { ca, cert, key, rejectUnauthorized, servername } = tls;
    const material = JSON.stringify([ca, cert, key, rejectUnauthorized, servername].map(String));
    if (this.#shared?.tls === material) return this.#shared.dispatcher;
    const old = this.#shared;
    const given = { ca, cert, key, rejectUnauthorized, servername };
    const dispatcher = await this.#makeDispatcher(
      Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    );
    this.#shared = { dispatcher, tls: material };
    if (old) void old.dispatcher.close();
    return dispatcher;
  }

  async #makeDispatcher(tls: Record<string, unknown>): Promise<Dispatcher> {
    const options = this.createDispatcherOptions(this.getCurrentCluster(), tls);
    if (options.type === "agent" || options.type === "none") {
      const connect = options.type === "agent" ? options.connect : {};
      // One call's time-out closes its own connection; over HTTP/2 a dead connection would be used again and again.
      return new Agent({
        connect: connect as NonNullable<Agent.Options["connect"]>,
        connections: SOCKETS,
        allowH2: false,
        keepAliveTimeout: 20_000,
      });
    }
    return this.#proxyDispatcher();
  }

  /** Through a proxy, as the library connects to one; kept like our own. */
  async #proxyDispatcher(): Promise<Dispatcher> {
    let made: Dispatcher | undefined;
    const catcher = {
      setHeaderParam: () => {},
      setDispatcher: (dispatcher: Dispatcher) => (made = dispatcher),
    };
    await super.applySecurityAuthentication(catcher as unknown as RequestContext);
    if (made === undefined) throw new Error("the client library made no connection to the proxy");
    return made;
  }

  async close(): Promise<void> {
    const shared = this.#shared;
    this.#shared = null;
    await shared?.dispatcher.destroy();
    (await this.credentials()).agent.destroy();
  }
}

/** Throws UsageError with the remedy when there is no such file, context or cluster. */
export function loadConfig(options: ClusterOptions): ClusterConfig {
  const config = new ClusterConfig();
  if (options.kubeconfig !== null && !existsSync(options.kubeconfig)) {
    throw new UsageError(
      `kubeconfig ${options.kubeconfig}: no such file. Remedy: give the path of a kubeconfig`,
    );
  }
  try {
    if (options.kubeconfig !== null) config.loadFromFile(options.kubeconfig);
    else config.loadFromDefault();
  } catch (error) {
    const file = options.kubeconfig ?? process.env.KUBECONFIG ?? "~/.kube/config";
    throw new UsageError(`kubeconfig ${file} can't be read (${(error as Error).message.split("\n")[0]})`);
  }
  if (options.context !== null) chooseContext(config, options.context);
  const cluster = config.getCurrentCluster();
  // What the library falls back to when it finds nothing.
  if (cluster === null || cluster.server === "http://localhost:8080") {
    throw new UsageError(
      "no cluster: there is no kubeconfig and this is no pod. Remedy: set KUBECONFIG, or give kubernetes.kubeconfig",
    );
  }
  return config;
}

function chooseContext(config: ClusterConfig, context: string): void {
  const names = config.getContexts().map(({ name }) => name);
  if (!names.includes(context)) {
    throw new UsageError(
      `kubernetes.context: "${context}" is not in the kubeconfig. Remedy: one of ${names.join(", ")}`,
    );
  }
  config.setCurrentContext(context);
}
