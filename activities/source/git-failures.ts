import type { Cause } from "../../results/causes.ts";
import { CausedError } from "../errors.ts";
import type { CommandResult } from "./command.ts";
import { redact } from "./mirrors.ts";

type SourceCause = Extract<Cause, `source_${string}`>;

/**
 * git exits with 128 (sometimes 1) for everything that goes wrong with a remote, so its messages (in the C locale)
 * decide; the first row that matches counts. A missing or private repository is one and the same to a stranger: hosts
 * answer both with 404 or ask for a name and password.
 */
const MESSAGES: readonly [RegExp, SourceCause, string][] = [
  [/No space left on device|Disk quota exceeded/, "source_unavailable", "this machine's disk is full"],
  [
    /CONNECT tunnel failed|Proxy CONNECT aborted|Received HTTP code \d+ from proxy/,
    "source_unavailable",
    "the proxy refused",
  ],
  [
    /not our ref|unadvertised object|couldn't find remote ref|no such remote ref|reference is not a tree/i,
    "source_vanished",
    "the commit is not there",
  ],
  [
    /returned error: (404|410|451)|repository .* not found|Repository not found|does not appear to be a git repository|does not exist|not found: did you run git update-server-info|Access to this repository has been disabled/i,
    "source_vanished",
    "the repository is not there",
  ],
  [
    /could not read (Username|Password)|Authentication failed|returned error: 401/,
    "source_vanished",
    "the repository is not there, or private",
  ],
  [/transport '.*' not allowed/, "source_vanished", "the address is of a kind that is not fetched"],
  [
    /fsck|hash mismatch|SHA1 COLLISION|object corrupt|inflate: data stream error|invalid index-pack output|bad object/i,
    "source_unavailable",
    "damaged data came",
  ],
];

/** Servers that only hand out what their branches and tags name, or no shallow history, say so in one of these ways. */
export const REFUSES_COMMIT = /unadvertised object|does not support (shallow|--depth)|dumb http transport/i;

/** With protocol version 2 this is the last word; an older server may mean that no branch or tag ends there. */
export const NOT_OUR_REF = /not our ref/;

/** The failure with its cause, decided by exit code and message in this one place. */
export function gitFailure(what: string, args: readonly string[], result: CommandResult): CausedError {
  const row = MESSAGES.find(([pattern]) => pattern.test(result.stderr));
  const [, cause, meaning] = row ?? [null, "source_unavailable" as const, "git failed"];
  return new CausedError(
    cause,
    `${what}: ${meaning} (git ${args[0]}, exit ${result.exit}: ${lastLine(result.stderr)})`,
  );
}

function lastLine(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => /^(fatal|error|remote)\b/.test(line));
  return redact(
    lines
      .slice(0, 2)
      .join(" ")
      .replaceAll(/https?:\/\/[^\s']*@/g, "https://") || "no message",
  ).slice(0, 400);
}
