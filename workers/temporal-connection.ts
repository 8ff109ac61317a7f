import { Connection, type ConnectionOptions } from "@temporalio/client";

/** What a client's `Connection` and a worker's `NativeConnection` both take. `apiKey` stays in memory. */
export interface TemporalConnectionOptions {
  address: string;
  tls?: boolean;
  apiKey?: string;
}

/** Search attributes (all Keyword) by which sweeps and runs are found. */
export const SEARCH_ATTRIBUTES = [
  "BenchSweep",
  "BenchSuite",
  "BenchSystem",
  "BenchTier",
  "BenchVerdict",
] as const;

/** IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const KEYWORD = 2;

/** Connection options for an address; BENCH_TEMPORAL_API_KEY (implies TLS) and BENCH_TEMPORAL_TLS=1 add to it. */
export function temporalConnectionOptions(
  address: string,
  environment: NodeJS.ProcessEnv = process.env,
): TemporalConnectionOptions {
  const apiKey = environment.BENCH_TEMPORAL_API_KEY;
  if (apiKey) return { address, tls: true, apiKey };
  return environment.BENCH_TEMPORAL_TLS === "1" ? { address, tls: true } : { address };
}

/**
 * Connects once and sees that the namespace answers and has the search attributes, adding what is missing.
 * Throws whatever the server or the network says.
 * @returns the namespace's id: unlike an address and a name, no two servers share it
 */
export async function checkTemporal(options: TemporalConnectionOptions, namespace: string): Promise<string> {
  const connection = await Connection.connect({
    ...options,
    connectTimeout: 5_000,
  } satisfies ConnectionOptions);
  try {
    return await connection.withDeadline(Date.now() + 10_000, async () => {
      const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
      await addSearchAttributes(connection, namespace);
      if (!namespaceInfo?.id) throw new Error(`the namespace ${namespace} has no id`);
      return namespaceInfo.id;
    });
  } finally {
    await connection.close();
  }
}

async function addSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const present = customAttributes ?? {};
  const missing = SEARCH_ATTRIBUTES.filter((name) => !(name in present));
  const wrong = SEARCH_ATTRIBUTES.filter((name) => name in present && present[name] !== KEYWORD);
  if (wrong.length > 0) {
    throw new Error(`search attribute ${wrong.join(", ")} of namespace ${namespace} is not of type Keyword`);
  }
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    const flags = missing.map((name) => `--name ${name} --type Keyword`).join(" ");
    throw new Error(
      `search attributes ${missing.join(", ")} are missing in namespace ${namespace} and could not be added ` +
        `(${(error as Error).message}). Remedy: temporal operator search-attribute create ${flags}`,
      { cause: error },
    );
  }
}
