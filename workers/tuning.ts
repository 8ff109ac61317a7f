/** How much one worker process takes on. Imports nothing, so that the command line can show the defaults at once. */
export interface Tuning {
  /** Activities in flight per queue; nearly all of them wait for a sandbox, so this is no measure of load. */
  activities: number;
  /** Workflows kept in memory between their tasks. */
  cachedWorkflows: number;
  /** Seconds that running activities get to end by themselves at a shutdown, before they are cancelled. */
  graceSeconds: number;
}

export const DEFAULT_TUNING: Tuning = { activities: 200, cachedWorkflows: 400, graceSeconds: 1 };
