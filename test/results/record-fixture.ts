import { type RunRecord, runRecord } from "../../results/record.ts";

let serial = 0;

/** A valid record of a run that went well, with the given fields changed; the cell is unique unless given. */
export function recordOf(changes: Partial<RunRecord> = {}): RunRecord {
  serial += 1;
  const system = changes.system ?? "oracle";
  return runRecord.parse({
    schema_version: 1,
    sweep: "s1",
    cell: `${system}.${changes.task ?? "click"}.${serial}`,
    attempt: 1,
    suite: "pypi-smoke",
    task: "click",
    revision: "8.5.1",
    system,
    arm: system,
    tier: "low",
    area: "CLI",
    validity: "valid",
    cause: null,
    detail: null,
    notes: [],
    self_claim: true,
    replay: { exit: 0, seconds: 20 },
    collection: { ok: true, count: 100, errors: 0 },
    tests: { passed: 90, failed: 0, skipped: 10, errors: 0, flaky: 0, seconds: 5 },
    gold: { verified: 90, passed: 90 },
    ebsr: true,
    essr: 1,
    static: { missing_imports: 0, pip_check: true },
    verdict: null,
    tokens: {},
    cost: { measured_usd: 0, unmeasured_calls: 0, unsettled_calls: 0, unsettled_usd: 0 },
    steps: 1,
    wall_seconds: 30,
    working_seconds: 28,
    sandbox: { driver: "local", base_digest: "0".repeat(64), snapshots: "layers", losses: [], left: [] },
    artifact: "1".repeat(64),
    harness: { version: "0.1.0", commit: null },
    ...changes,
  });
}

/** A run that could not be graded. */
export function infrastructureRecord(changes: Partial<RunRecord> = {}): RunRecord {
  return recordOf({
    validity: "infrastructure",
    cause: "sandbox_lost",
    ebsr: false,
    essr: 0,
    gold: { verified: 90, passed: 0 },
    replay: null,
    collection: null,
    tests: null,
    self_claim: null,
    ...changes,
  });
}
