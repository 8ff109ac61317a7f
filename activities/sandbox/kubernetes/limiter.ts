/** At most `most` of the given works at once; the others wait in order. */
export function limiter(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      // The place is handed on, so that a newcomer can't take it before who waits.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
