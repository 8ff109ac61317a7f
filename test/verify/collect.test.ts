import test from "ava";
import type { Ended } from "../../activities/sandbox/run-command.ts";
import { whyNot } from "../../activities/verify/collect.ts";
import type { Session } from "../../activities/verify/report.ts";
import { countMissingImports } from "../../activities/verify/static-check.ts";

const GOOD: Session = {
  pytest: "9.0.2",
  python: "3.13.0",
  rootdir: "/workspace/repo",
  items: ["a.py::one"],
  collected: true,
  seen: 1,
  collectionErrors: [],
  results: [],
  running: null,
  interrupted: null,
  internalError: null,
  exit: 0,
  error: null,
};
const ENDED: Ended = { state: "ended", end: "exited", exit: 0, seconds: 1, stdoutBytes: 0, stderrBytes: 0 };

const why = (session: Partial<Session>, ended: Partial<Ended> = {}) =>
  whyNot({ session: { ...GOOD, ...session }, ended: { ...ENDED, ...ended }, log: "some\nlast words\n" }, 60);

test("a collection counts when session and process end with 0 and there is a test", (t) => {
  t.is(why({}), null);
});

const refusals: [string, Parameters<typeof why>, RegExp][] = [
  ["a collection without a test", [{ items: [], exit: 5 }, { exit: 5 }], /^no tests collected$/],
  [
    "a collection with errors",
    [{ collectionErrors: [{ id: "b.py", text: "x\nE  ImportError: y" }], exit: 2 }],
    /1 collection errors, the first in b.py: E {2}ImportError: y/,
  ],
  ["a session without an end", [{ exit: null }, { exit: 0 }], /did not end \(exit code 0\): last words/],
  ["no session at all", [{ pytest: null, exit: 0 }], /no pytest session began/],
  ["an end before collection's", [{ collected: false }], /ended before collection did/],
  ["an interruption", [{ interrupted: "bye", exit: 0 }], /interrupted: bye/],
  ["another exit status", [{ exit: 1 }, { exit: 1 }], /exit status 1/],
  ["a process that ends otherwise than pytest", [{}, { exit: 3 }], /exit code 3 although/],
  [
    "a pytest that can't be run",
    [{ error: "pytest is not installed", pytest: null, exit: null }],
    /^pytest is not installed$/,
  ],
  ["a time limit", [{}, { end: "timeout", exit: null }], /longer than 60 s/],
];
for (const [name, given, expected] of refusals) {
  test(`${name} does not count as a collection`, (t) => {
    t.regex(why(...given) ?? "", expected);
  });
}

test("missing imports are counted, missing sources of stubs are not", (t) => {
  const rules = [
    "reportMissingImports",
    "reportMissingModuleSource",
    "reportAttributeAccessIssue",
    undefined,
  ];
  const generalDiagnostics = rules.map((rule) => ({ rule }));
  t.is(countMissingImports(JSON.stringify({ generalDiagnostics, summary: { filesAnalyzed: 3 } })), 1);
});

test("an output that is no result of pyright counts nothing", (t) => {
  t.is(countMissingImports(""), null);
  t.is(countMissingImports("{}"), null);
  t.is(countMissingImports('{"generalDiagnostics": [], "summary": {"filesAnalyzed": 0}}'), null);
});
