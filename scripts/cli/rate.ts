/** Runs per second as seen lately, so that an hour of pause an hour ago doesn't count; null while too little was seen. */
export type RateMeter = (done: number, now: number) => number | null;

const WINDOW_MS = 10 * 60_000;
const LEAST_MS = 20_000;

export function rateMeter(startedAt: number): RateMeter {
  const seen: { at: number; done: number }[] = [{ at: startedAt, done: 0 }];
  return (done, now) => {
    seen.push({ at: now, done });
    while ((seen[1]?.at ?? now) < now - WINDOW_MS) seen.shift();
    const [oldest] = seen;
    if (oldest === undefined || now - oldest.at < LEAST_MS || done <= oldest.done) return null;
    return ((done - oldest.done) / (now - oldest.at)) * 1_000;
  };
}
