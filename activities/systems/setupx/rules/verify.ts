import type { VerifyInput, VerifyOutput } from "../roles/verify.ts";
import { judge, look } from "./answers.ts";
import { LOOK, type Report, readLook } from "./look.ts";
import { type Problem, problemsOf } from "./problems.ts";
import { settledIn } from "./verdict.ts";

/** SetupX's verifier as rules: runs the tests once on the fork and says what of their trouble could be mended. */
export function verifyByRules({ looks, hint }: VerifyInput): VerifyOutput {
  const last = looks.at(-1);
  if (last === undefined) return look("Run the tests and see why they fail.", LOOK);
  const report = readLook(last.result?.stdout ?? "");
  if (report === null) {
    const text = `${last.result?.stdout ?? ""}\n${last.result?.stderr ?? ""}`.trim().slice(-3_000);
    return judge("The tests could not be run at all.", {
      success: false,
      hint: `${text}\n${counted(null)} [look]`,
      framework: "",
      collected: 0,
    });
  }
  const settled = settledIn(hint);
  const open = problemsOf(report).filter(({ key }) => !settled.has(key));
  const success = open.length === 0 && report.counts.passed > 0 && report.counts.collect === 0;
  return judge(success ? "The tests run." : "Something is missing still.", {
    success,
    hint: success ? "" : hintOf(open, report),
    framework: "pytest",
    collected: report.counts.collected,
  });
}

/** The gravest problem in its own words, so that it can be looked up; then how it stands, and the keys of all. */
function hintOf(open: readonly Problem[], report: Report): string {
  const first = open[0];
  const skips = report.skips.slice(0, 4).map(([text, count]) => `${count} skipped: ${text}`);
  const words = first === undefined ? skips.join("\n") : `${first.count} tests: ${first.text}`;
  const keys = open.map(({ key }) => `[${key}]`).slice(0, 12);
  return [words, counted(report), keys.join(" ")].filter(Boolean).join("\n");
}

function counted(report: Report | null): string {
  const { collected, passed, failed, error, skipped, collect } = report?.counts ?? {
    collected: 0,
    passed: 0,
    failed: 0,
    error: 0,
    skipped: 0,
    collect: 0,
  };
  return `(collected ${collected}, passed ${passed}, failed ${failed + error}, skipped ${skipped}, not collected ${collect})`;
}
