import { CausedError } from "../errors.ts";
import type { SourceOptions } from "./options.ts";

/** One fetch's ceilings on time and size. Whatever breaks one, `signal` aborts with the failure as its reason. */
export interface Limits {
  signal: AbortSignal;
  /** Counts received bytes. */
  received(bytes: number): void;
  /** Counts unpacked bytes and files. */
  unpacked(bytes: number, files: number): void;
  /** Stops the clock. */
  end(): void;
}

/** Starts the clock. Breaking a ceiling throws as well as aborts: cause source_too_large. */
export function startLimits(options: SourceOptions, what: string): Limits {
  const controller = new AbortController();
  const count = { received: 0, bytes: 0, files: 0 };
  const onAbort = () => controller.abort(options.signal?.reason);
  if (options.signal?.aborted) onAbort();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const clock = setTimeout(
    () => controller.abort(late(options, what, count.received)),
    options.timeoutSeconds * 1000,
  );
  const beat = setInterval(() => options.progress?.(count.received), 500);
  const check = (name: string, value: number, ceiling: number) => {
    controller.signal.throwIfAborted();
    if (value <= ceiling) return;
    controller.abort(new CausedError("source_too_large", `${what}: over the ceiling of ${ceiling} ${name}`));
    controller.signal.throwIfAborted();
  };
  return {
    signal: controller.signal,
    received(bytes) {
      count.received += bytes;
      check("received bytes", count.received, options.maxBytes);
    },
    unpacked(bytes, files) {
      count.bytes += bytes;
      count.files += files;
      check("unpacked bytes", count.bytes, options.maxUnpackedBytes);
      check("files", count.files, options.maxFiles);
    },
    end() {
      clearTimeout(clock);
      clearInterval(beat);
      options.signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** A source that was still coming is too large for the time; one that sent nothing is not there. */
function late(options: SourceOptions, what: string, received: number): CausedError {
  const limit = `the limit of ${options.timeoutSeconds} s`;
  return received > 0
    ? new CausedError("source_too_large", `${what}: not fetched within ${limit} (${received} bytes came)`)
    : new CausedError("source_unavailable", `${what}: nothing came within ${limit}`);
}
