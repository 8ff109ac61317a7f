import { APIConnectionError, APIError, APIUserAbortError } from "openai";
import type { Cause } from "../../results/causes.ts";
import { CutStreamError } from "./client.ts";
import type { Outcome } from "./journal.ts";

/** Why a try gave no answer, as far as it decides what comes next. */
export type Fault =
  /** Says something about this request for good: the call has its outcome. */
  | { kind: "outcome"; outcome: Outcome }
  /** May pass by itself: worth another try. `charged`: the request was on its way, so its tokens may be charged. */
  | { kind: "passing"; cause: Cause; message: string; retryAfterMs: number | null; charged: boolean }
  /** Only people can mend it. */
  | { kind: "lasting"; cause: Cause; message: string };

const TOO_LATE = "no whole answer in the time of a call";

/** Null for what is no endpoint's or network's fault: a fault of the harness. */
export function faultOf(error: unknown): Fault | null {
  if (error instanceof CutStreamError) return passing(error.message, true);
  // Only the time of the call ends it: a cancelled caller never comes here.
  if (error instanceof APIUserAbortError) return passing(TOO_LATE, true);
  if (error instanceof APIConnectionError) return passing(withCauses(error), !isRefusedConnection(error));
  if (error instanceof APIError) return apiFault(error);
  if (!(error instanceof Error)) return null;
  if (error.name === "TimeoutError" || error.name === "AbortError") return passing(TOO_LATE, true);
  // A body or a stream that is no JSON, and a connection that broke off in the middle of one.
  if (error instanceof SyntaxError) return passing(`no JSON: ${error.message}`, true);
  if (error instanceof TypeError && /terminated|fetch failed/.test(error.message))
    return passing(withCauses(error), true);
  return null;
}

function apiFault(error: APIError): Fault {
  const { status, message } = error;
  const code = `${error.code ?? ""} ${error.type ?? ""}`;
  if (
    /context_length|context window|maximum context|too many tokens|exceed\w* .*context/i.test(
      `${code} ${message}`,
    )
  )
    return { kind: "outcome", outcome: { kind: "overflow", message } };
  if (/content_filter|content_policy|content management policy/i.test(`${code} ${message}`))
    return { kind: "outcome", outcome: { kind: "refused", message } };
  if (isQuota(error, code)) return { kind: "lasting", cause: "quota_exhausted", message };
  if (status === 401 || status === 403) return { kind: "lasting", cause: "credentials", message };
  if (status === 429 || /rate_limit/i.test(code)) {
    const retryAfterMs = retryAfter(error);
    return { kind: "passing", cause: "model_rate_limited", message, retryAfterMs, charged: false };
  }
  // An error in the middle of a stream has no status.
  if (status === undefined) return passing(message, true);
  if (status >= 500 || status === 408 || status === 409) {
    return {
      kind: "passing",
      cause: "model_unavailable",
      message,
      retryAfterMs: retryAfter(error),
      charged: false,
    };
  }
  if (/response_format|json_schema|structured|tool|function/i.test(`${error.param ?? ""} ${message}`))
    return { kind: "outcome", outcome: { kind: "unsupported", message } };
  return { kind: "lasting", cause: "model_unavailable", message };
}

/** Some endpoints call a limit per minute a quota as well, but then say when it is over. */
function isQuota(error: APIError, code: string): boolean {
  if (error.status === 402 || /insufficient_quota|billing/i.test(code)) return true;
  const isSpent = error.status === 429 && /quota|billing|credit/i.test(error.message);
  return isSpent && retryAfter(error) === null && !/per (second|minute|hour)|retry/i.test(error.message);
}

function passing(message: string, charged: boolean): Fault {
  return { kind: "passing", cause: "model_unavailable", message, retryAfterMs: null, charged };
}

/** Milliseconds, from `retry-after-ms`, or `retry-after` in seconds or as a date; null when the endpoint names none. */
function retryAfter({ headers }: APIError): number | null {
  const milliseconds = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const text = headers?.get("retry-after");
  if (text === null || text === undefined) return null;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

/** Nobody listened, or there is no such host: nothing can have been charged. */
function isRefusedConnection(error: Error): boolean {
  return /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/.test(
    withCauses(error),
  );
}

function withCauses(error: Error): string {
  const parts: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    parts.push(code === undefined ? at.message : `${at.message} (${code})`);
  }
  return parts.join(": ");
}
