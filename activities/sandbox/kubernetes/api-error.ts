import { ApiException, type V1Status } from "@kubernetes/client-node";

/** What an answer of the API server means to us; HTTP codes are looked at nowhere else. */
export type ApiFault =
  | "gone"
  | "conflict"
  | "expired"
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "quota"
  | "busy"
  | "unreachable";

/** A failed call of the API server. `retryAfterMs`: how long the server asks to wait, null where it says nothing. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly fault: ApiFault;
  readonly retryAfterMs: number | null;

  constructor(
    fault: ApiFault,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | null } = {},
  ) {
    super(message, { cause: options.cause });
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

export function isFault(error: unknown, ...faults: readonly ApiFault[]): error is ApiError {
  return error instanceof ApiError && faults.includes(error.fault);
}

/** Worth asking again: the server is overloaded or restarting, or the network lost the call. */
export function isPassing(error: unknown): error is ApiError {
  return isFault(error, "busy", "unreachable");
}

/** The one translation of what the client library throws. `action` names the call in the message. */
export function toApiError(action: string, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof ApiException)) {
    return new ApiError("unreachable", `${action}: the API server can't be reached (${reasonOf(error)})`, {
      cause: error,
    });
  }
  const status = statusOf(error.body);
  const message = status.message ?? `HTTP ${error.code}`;
  return new ApiError(faultOf(error.code, message), `${action}: ${message}`, {
    retryAfterMs: retryAfter(error.headers as Record<string, string>, status),
  });
}

function faultOf(code: number, message: string): ApiFault {
  if (code === 404) return "gone";
  if (code === 409) return "conflict";
  if (code === 410) return "expired";
  if (code === 401) return "unauthorized";
  if (code === 403) return /exceeded quota/.test(message) ? "quota" : "forbidden";
  return code === 429 || code >= 500 ? "busy" : "invalid";
}

/** ApiException carries the body as the unparsed JSON text that the server sent. */
function statusOf(body: unknown): V1Status {
  if (typeof body !== "string") return (body ?? {}) as V1Status;
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" && parsed !== null ? (parsed as V1Status) : { message: body };
  } catch (error) {
    // A proxy's page is no JSON.
    if (error instanceof SyntaxError) return { message: body.slice(0, 300) };
    throw error;
  }
}

function retryAfter(headers: Record<string, string>, status: V1Status): number | null {
  const seconds = Number(headers["retry-after"] ?? status.details?.retryAfterSeconds);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : null;
}

/** fetch hides why behind "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
