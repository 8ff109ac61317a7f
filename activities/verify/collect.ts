import type { CollectionResult } from "../../workflows/types.ts";
import { CausedError } from "../errors.ts";
import type { VerifyContext } from "./context.ts";
import { findInterpreter, noInterpreter } from "./interpreter.ts";
import type { Session } from "./report.ts";
import { lastLine, type Ran, runSession, shortDetail } from "./session.ts";

/** The blob that `CollectionResult.report` names. */
export interface CollectionReport {
  schema_version: 1;
  kind: "collection";
  python: string | null;
  pytest: string | null;
  rootdir: string | null;
  tests: string[];
  errors: { id: string; text: string | null }[];
  log: string;
}

/**
 * Stage 3 of metrics.md: `pytest --collect-only` in the replayed sandbox. It is ok when the collector exits 0 with at
 * least one test and no collection error; whatever else happens in there is the environment's failure, with `detail`.
 * Throws `verifier_fault`, `sandbox_lost` and `sandbox_oom`.
 */
export async function verifyCollection(
  context: VerifyContext,
  budget: { collect: number },
): Promise<CollectionResult> {
  const interpreter = await findInterpreter(context);
  if (interpreter === null) return result(context, null, noInterpreter(context));
  const request = { mode: "collect", only: null, skip: [], limit: budget.collect } as const;
  const id = `${context.prefix}-collect`;
  const ran = await runSession(context, interpreter, id, request, budget.collect);
  if (ran.ended.end === "oom") {
    throw new CausedError("sandbox_oom", "collection ran into the sandbox's memory limit");
  }
  return result(context, ran, whyNot(ran, budget.collect));
}

async function result(
  context: VerifyContext,
  ran: Ran | null,
  detail: string | null,
): Promise<CollectionResult> {
  const session = ran?.session ?? null;
  const report: CollectionReport = {
    schema_version: 1,
    kind: "collection",
    python: session?.python ?? null,
    pytest: session?.pytest ?? null,
    rootdir: session?.rootdir ?? null,
    tests: session?.items ?? [],
    errors: session?.collectionErrors ?? [],
    log: ran?.log ?? "",
  };
  return {
    ok: detail === null,
    count: session === null ? 0 : session.collected ? session.items.length : session.seen,
    errors: report.errors.length,
    report: await context.blobs.put(JSON.stringify(report)),
    detail: shortDetail(detail),
  };
}

/** Why a collection does not count, or null when it does. */
export function whyNot(ran: Ran, seconds: number): string | null {
  const { ended, session } = ran;
  if (ended.end === "timeout") return `collection took longer than ${seconds} s`;
  if (ended.end === "output") return "collection printed more than the output limit";
  const [first, ...more] = session.collectionErrors;
  if (first !== undefined) {
    return `${more.length + 1} collection errors, the first in ${first.id || "the session"}: ${lastLine(first.text ?? "")}`;
  }
  return whyUnfinished(ran, session) ?? whyUnfit(session, ended.exit);
}

function whyUnfinished({ ended, log }: Ran, session: Session): string | null {
  if (session.error !== null) return session.error;
  if (session.internalError !== null) return `internal error of pytest: ${lastLine(session.internalError)}`;
  if (session.interrupted !== null) return `collection was interrupted: ${lastLine(session.interrupted)}`;
  if (session.pytest === null) return `no pytest session began (exit code ${ended.exit}): ${lastLine(log)}`;
  if (session.exit === null)
    return `the pytest session did not end (exit code ${ended.exit}): ${lastLine(log)}`;
  return null;
}

function whyUnfit(session: Session, exit: number | null): string | null {
  if (!session.collected) return "the pytest session ended before collection did";
  if (session.items.length === 0) return "no tests collected";
  if (session.exit !== 0) return `pytest ended with exit status ${session.exit}`;
  return exit === 0 ? null : `the process ended with exit code ${exit} although pytest's was 0`;
}
