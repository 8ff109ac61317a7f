import { pathToFileURL } from "node:url";
import { UsageError } from "../../benchmarks/usage-error.ts";

/** `replace` may name groups of the regular expression `match` ($1, $<name>). */
export interface MirrorRule {
  match: string;
  replace: string;
}

export interface Address {
  url: string;
  /** A rule led to it: only then may it be a folder or file of this machine. */
  mirrored: boolean;
}

/**
 * The address that is really asked: the part that the first matching rule matches is replaced. A result that is an
 * absolute path becomes a `file:` address. Throws `UsageError` for a rule that is no regular expression.
 */
export function mirrorAddress(address: string, rules: readonly MirrorRule[]): Address {
  for (const [index, rule] of rules.entries()) {
    const pattern = compile(rule, index);
    if (!pattern.test(address)) continue;
    const url = address.replace(pattern, rule.replace);
    return { url: url.startsWith("/") ? pathToFileURL(url).href : url, mirrored: true };
  }
  return { url: address, mirrored: false };
}

/** Checks all rules, so that a wrong one is told before anything runs. Throws `UsageError`. */
export function checkMirrors(rules: readonly MirrorRule[]): void {
  for (const [index, rule] of rules.entries()) compile(rule, index);
}

function compile(rule: MirrorRule, index: number): RegExp {
  try {
    return new RegExp(rule.match);
  } catch (error) {
    throw new UsageError(
      `mirrors[${index}].match: ${(error as Error).message}; write a JavaScript regular expression`,
      {
        cause: error,
      },
    );
  }
}

/** The address without user name and password, for messages and for what is kept. */
export function redact(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1");
}
