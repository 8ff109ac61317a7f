/**
 * How many calls of one process may be in flight at one endpoint. It starts slowly and doubles while all goes well,
 * halves when the endpoint says that it is too much, and from then on grows by one per round.
 */
export interface Limiter {
  /** Resolves when it is the caller's turn, first come, first served. Throws the signal's reason. */
  acquire(signal: AbortSignal): Promise<Turn>;
  limit(): number;
  /** Milliseconds for which the endpoint wants no call at all; 0 when it does not say. */
  heldMs(): number;
}

interface Turn {
  succeeded(): void;
  /** The endpoint refuses for load. `retryAfterMs` holds all callers back; several refusals of one burst cut once. */
  overloaded(retryAfterMs: number | null): void;
  /** Ended otherwise: says nothing about load. */
  release(): void;
}

interface Waiting {
  start: () => void;
}

/** A burst's first refusal holds the others back this long when the endpoint names no time. */
const FIRST_PAUSE_MS = 1_000;

export function limiter(most: number, now: () => number = () => performance.now()): Limiter {
  let limit = Math.min(2, most);
  let inFlight = 0;
  /** Successes since the limit last changed. */
  let successes = 0;
  let isSlowStart = true;
  let cutAt = Number.NEGATIVE_INFINITY;
  let heldUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const queue: Waiting[] = [];

  const pump = () => {
    const held = heldUntil - now();
    if (held > 0) {
      // Nobody waits: a timer would only keep the process.
      if (queue.length === 0) return;
      clearTimeout(timer);
      timer = setTimeout(pump, held + 1);
      return;
    }
    while (inFlight < limit && queue.length > 0) {
      inFlight++;
      queue.shift()?.start();
    }
  };

  const grow = () => {
    successes++;
    if (limit >= most || successes < limit) return;
    limit = Math.min(most, isSlowStart ? limit * 2 : limit + 1);
    successes = 0;
  };

  const cut = (startedAt: number, retryAfterMs: number | null) => {
    heldUntil = Math.max(heldUntil, now() + (retryAfterMs ?? FIRST_PAUSE_MS));
    // Who started before the last cut met the load of that time, which has been answered.
    if (startedAt < cutAt) return;
    cutAt = now();
    limit = Math.max(1, Math.floor(limit / 2));
    isSlowStart = false;
    successes = 0;
  };

  const turn = (): Turn => {
    const startedAt = now();
    let isOver = false;
    const end = (note: () => void) => {
      if (isOver) return;
      isOver = true;
      inFlight--;
      note();
      pump();
    };
    return {
      succeeded: () => end(grow),
      overloaded: (retryAfterMs) => end(() => cut(startedAt, retryAfterMs)),
      release: () => end(() => undefined),
    };
  };

  return {
    limit: () => limit,
    heldMs: () => Math.max(0, heldUntil - now()),
    acquire(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const waiting: Waiting = {
          start: () => {
            signal.removeEventListener("abort", leave);
            resolve(turn());
          },
        };
        const leave = () => {
          const at = queue.indexOf(waiting);
          if (at === -1) return;
          queue.splice(at, 1);
          reject(signal.reason);
        };
        signal.addEventListener("abort", leave, { once: true });
        queue.push(waiting);
        pump();
      });
    },
  };
}

const limiters = new Map<string, { most: number; limiter: Limiter }>();

/** The one limiter of this process for an endpoint (its address and the key's variable); another ceiling makes it anew. */
export function limiterFor(endpoint: string, most: number): Limiter {
  const known = limiters.get(endpoint);
  if (known?.most === most) return known.limiter;
  const made = limiter(most);
  limiters.set(endpoint, { most, limiter: made });
  return made;
}
