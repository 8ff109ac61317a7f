import type { MirrorRule } from "./mirrors.ts";

/** The settings of fetching; `sourceOptions` fills in the defaults. */
export interface SourceOptions {
  /** The cache is its folder `sources/`. */
  stateFolder: string;
  /** Applied to git, index and archive addresses, in order; the first that matches wins. */
  mirrors: readonly MirrorRule[];
  /** A simple repository (PEP 503 or 691) for sdists. */
  index: string;
  /** Of one fetch, waiting for another process's fetch of the same source not counted. */
  timeoutSeconds: number;
  /** Bytes that may be received. */
  maxBytes: number;
  /** Bytes (four times `maxBytes` when not given) and files that the repository may hold once unpacked. */
  maxUnpackedBytes: number;
  maxFiles: number;
  /** Ends the fetch, or the waiting for another one's; its reason is thrown. */
  signal: AbortSignal | null;
  /** Called about twice a second with the bytes received so far; an activity heartbeats here. */
  progress: ((bytes: number) => void) | null;
}

const GIB = 1024 ** 3;

const UNPACKED_FACTOR = 4;
const DEFAULTS: Omit<SourceOptions, "stateFolder" | "maxUnpackedBytes"> = {
  mirrors: [],
  index: "https://pypi.org/simple",
  timeoutSeconds: 600,
  maxBytes: 2 * GIB,
  maxFiles: 500_000,
  signal: null,
  progress: null,
};

export type GivenOptions = { stateFolder: string } & {
  [Key in Exclude<keyof SourceOptions, "stateFolder">]?: SourceOptions[Key] | null | undefined;
};

/** What is null or left out takes its default. */
export function sourceOptions(given: GivenOptions): SourceOptions {
  const said = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const options = { ...DEFAULTS, ...(Object.fromEntries(said) as { stateFolder: string }) };
  return { maxUnpackedBytes: UNPACKED_FACTOR * options.maxBytes, ...options };
}
