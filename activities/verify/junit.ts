import type { Outcome } from "./outcomes.ts";
import { isFailure, isPass, tally } from "./outcomes.ts";

/**
 * JUnit XML of a test run, as pytest's own looks: the class name is the module's dotted path and the classes, the name
 * is the rest. An expected failure is a skipped test, also when it passed.
 */
export function junitXml(suite: string, outcomes: Iterable<Outcome>): string {
  const cases = [...outcomes];
  const { failed, skipped, errors } = tally(cases);
  const seconds = cases.reduce((sum, outcome) => sum + outcome.seconds, 0);
  const counts = `tests="${cases.length}" failures="${failed}" errors="${errors}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    "<testsuites>",
    `<testsuite name="${escapeXml(suite)}" ${counts} time="${seconds.toFixed(3)}">`,
    ...cases.map(testCase),
    "</testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(outcome: Outcome): string {
  const { file, classname, name } = splitId(outcome.id);
  const attributes = Object.entries({ classname, name, file, time: outcome.seconds.toFixed(3) })
    .map(([key, value]) => `${key}="${escapeXml(value)}"`)
    .join(" ");
  const child = childOf(outcome);
  return child === "" ? `<testcase ${attributes}/>` : `<testcase ${attributes}>${child}</testcase>`;
}

function childOf({ outcome, detail, flaky }: Outcome): string {
  const message = escapeXml(detail ?? "");
  if (flaky)
    return `<system-out>${escapeXml(`failed first, passed in the second look: ${detail ?? ""}`)}</system-out>`;
  if (isFailure(outcome)) return `<${outcome === "failed" ? "failure" : "error"} message="${message}"/>`;
  if (!isPass(outcome)) return `<skipped type="pytest.${outcome}" message="${message}"/>`;
  return "";
}

/** `a/b.py::Class::test[x::y]` → file, dotted class name and name; parameters may hold anything. */
export function splitId(id: string): { file: string; classname: string; name: string } {
  const parameters = id.includes("[", id.indexOf("::") + 1)
    ? id.slice(id.indexOf("[", id.indexOf("::") + 1))
    : "";
  const [file = "", ...names] = id.slice(0, id.length - parameters.length).split("::");
  const name = (names.pop() ?? "") + parameters;
  const module = file.replace(/\.py$/, "").replaceAll("/", ".");
  return { file, classname: [module, ...names].join("."), name: name === "" ? file : name };
}

/** XML 1.0 has no way to write most control characters and lone surrogates: they become U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
