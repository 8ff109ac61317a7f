import { type ApiConstructor, type ApiType, CoreV1Api } from "@kubernetes/client-node";
import { CausedError } from "../../errors.ts";
import { isFault, isPassing, toApiError } from "./api-error.ts";
import { type ClusterConfig, type ClusterOptions, loadConfig } from "./cluster-config.ts";
import { retrying } from "./retry.ts";

/** How long a server that does not answer is waited for; a control plane's restart takes less. */
const PATIENCE_MS = 300_000;

interface Connection {
  config: ClusterConfig;
  clients: Map<unknown, unknown>;
}

/** One cluster as all of the driver sees it. */
export interface Cluster {
  server: string;
  namespace: string;
  /** One call with retries. Throws ApiError, CausedError `capacity` when the server stays away, `credentials`. */
  core<T>(action: string, use: (api: CoreV1Api) => Promise<T>): Promise<T>;
  /** The same for another group of the API. */
  api<A extends ApiType, T>(kind: ApiConstructor<A>, action: string, use: (api: A) => Promise<T>): Promise<T>;
  /** For what is no plain call (exec, watch): credentials as they are now. */
  config(): ClusterConfig;
  /** After a 401: credentials are read anew, unless that has happened since `refused` was in use. */
  renew(refused: ClusterConfig): void;
  close(): Promise<void>;
}

export interface ConnectOptions extends ClusterOptions {
  /** Null: the context's, else `default`. */
  namespace: string | null;
  patienceMs?: number;
}

/** Reads the configuration; nothing is sent yet. Throws UsageError. */
export function connectCluster(options: ConnectOptions): Cluster {
  let connection = connect(options);
  const { config } = connection;
  const server = config.getCurrentCluster()?.server ?? "";
  const inContext = config.getContextObject(config.getCurrentContext())?.namespace;
  const patience = options.patienceMs ?? PATIENCE_MS;
  const renew = (refused: ClusterConfig) => {
    if (connection.config !== refused) return;
    connection = connect(options);
    void refused.close();
  };
  /** A token that was rotated while it was cached is refused once (kubernetes-client/javascript#1240). */
  const once = async <T>(action: string, use: (connection: Connection) => Promise<T>): Promise<T> => {
    for (let renewed = false; ; renewed = true) {
      const used = connection;
      try {
        return await use(used);
      } catch (error) {
        const failure = toApiError(action, error);
        if (failure.fault !== "unauthorized" || renewed) throw failure;
        renew(used.config);
      }
    }
  };
  const call = <T>(action: string, use: (connection: Connection) => Promise<T>): Promise<T> =>
    retrying(patience, () => once(action, use)).catch((error) => {
      throw withCause(error, server);
    });
  return {
    server,
    namespace: options.namespace ?? inContext ?? "default",
    core: (action, use) => call(action, (connection) => use(clientOf(connection, CoreV1Api))),
    api: (kind, action, use) => call(action, (connection) => use(clientOf(connection, kind))),
    config: () => connection.config,
    renew,
    close: () => connection.config.close(),
  };
}

function connect(options: ClusterOptions): Connection {
  return { config: loadConfig(options), clients: new Map() };
}

function clientOf<A extends ApiType>({ config, clients }: Connection, kind: ApiConstructor<A>): A {
  const client = (clients.get(kind) as A | undefined) ?? config.makeApiClient(kind);
  clients.set(kind, client);
  return client;
}

/** Faults that no caller of a single call can act on. */
function withCause(error: unknown, server: string): unknown {
  if (isPassing(error)) return new CausedError("capacity", `${error.message} (${server})`, { cause: error });
  if (isFault(error, "unauthorized")) {
    return new CausedError(
      "credentials",
      `${error.message}: ${server} refuses the credentials of the kubeconfig`,
      {
        cause: error,
      },
    );
  }
  return error;
}
