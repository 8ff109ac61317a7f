import type { VerifyContext } from "./context.ts";
import type { Interpreter } from "./interpreter.ts";
import { addResults, type Outcome } from "./outcomes.ts";
import type { Session } from "./report.ts";
import { lastLine, type Ran, runSession, TIME_LIMIT_EXIT } from "./session.ts";

export interface RoundsRequest {
  /** Part of the execs' ids. */
  name: string;
  only: readonly string[] | null;
  /** For all rounds together. */
  seconds: number;
  /** For one test. */
  limit: number;
  restarts: number;
}

export interface Rounds {
  outcomes: Map<string, Outcome>;
  /** Collected tests without an outcome. */
  unrun: string[];
  collectionErrors: { id: string; text: string | null }[];
  /** The first session: what is collected counts from there. */
  session: Session | null;
  seconds: number;
  log: string;
  /** Why not every test has run, or null. */
  detail: string | null;
}

/** Before the first one. */
export function noRounds(): Rounds {
  return {
    outcomes: new Map(),
    unrun: [],
    collectionErrors: [],
    session: null,
    seconds: 0,
    log: "",
    detail: null,
  };
}

/**
 * Runs pytest until every collected test has an outcome: a test that ends the process (hang, crash, os._exit) becomes
 * an error, and pytest starts again without the tests that are done, `restarts` times at most and while time is left.
 * A round that brings no outcome is the last.
 */
export async function runRounds(
  context: VerifyContext,
  interpreter: Interpreter,
  request: RoundsRequest,
): Promise<Rounds> {
  const rounds = noRounds();
  for (let round = 0; ; round += 1) {
    const left = Math.floor(request.seconds - rounds.seconds);
    const id = `${context.prefix}-${request.name}-${round}`;
    const { only, limit } = request;
    const ask = { mode: "run", only, skip: [...rounds.outcomes.keys()], limit } as const;
    const ran = await runSession(context, interpreter, id, ask, left);
    const progress = take(rounds, ran);
    const why = whyStopped(ran);
    if (why === null || rounds.unrun.length === 0 || !progress)
      return { ...rounds, detail: unfinished(rounds, why) };
    if (ran.ended.end === "timeout" || request.seconds - rounds.seconds < 1) {
      return { ...rounds, detail: unfinished(rounds, `the total limit of ${request.seconds} s was reached`) };
    }
    if (round === request.restarts) {
      return { ...rounds, detail: unfinished(rounds, `pytest was started again ${round} times: ${why}`) };
    }
  }
}

/** Puts a round's results in; returns whether it brought any. */
function take(rounds: Rounds, ran: Ran): boolean {
  const { session, ended } = ran;
  const before = rounds.outcomes.size;
  addResults(rounds.outcomes, session.results);
  if (session.running !== null) {
    const result = { id: session.running, outcome: "error", seconds: 0, text: cut(ran) } as const;
    addResults(rounds.outcomes, [result]);
  }
  if (rounds.session === null) {
    rounds.session = session;
    rounds.collectionErrors = session.collectionErrors;
  }
  rounds.seconds += ended.seconds;
  rounds.log = ran.log;
  rounds.unrun = rounds.session.items.filter((id) => !rounds.outcomes.has(id));
  return rounds.outcomes.size > before;
}

/** What ended the test that was running when the process was gone. */
function cut({ ended }: Ran): string {
  if (ended.end === "timeout") return "timeout: the tests' total time limit was reached";
  if (ended.end === "oom") return "crashed: the sandbox's memory limit was reached";
  if (ended.end === "output") return "crashed: the output limit was reached";
  if (ended.exit === TIME_LIMIT_EXIT) return "timeout: over the limit, and did not react to its end";
  return `crashed: the process ended with exit code ${ended.exit}`;
}

/** Null when the session came to its own end. */
function whyStopped({ ended, session, log }: Ran): string | null {
  if (session.error !== null) return session.error;
  if (ended.end !== "exited") return `the tests ended by ${ended.end}`;
  if (session.internalError !== null) return `internal error of pytest: ${lastLine(session.internalError)}`;
  if (session.interrupted !== null) return `interrupted: ${lastLine(session.interrupted)}`;
  if (session.exit === null) return `pytest ended with exit code ${ended.exit}: ${lastLine(log)}`;
  return null;
}

function unfinished(rounds: Rounds, why: string | null): string | null {
  if (rounds.unrun.length > 0)
    return `${rounds.unrun.length} tests never ran: ${why ?? "pytest stopped early"}`;
  return rounds.outcomes.size > 0 ? null : (why ?? "no tests ran");
}
