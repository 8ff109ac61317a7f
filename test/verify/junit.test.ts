import test from "ava";
import { execa } from "execa";
import fc from "fast-check";
import { escapeXml, junitXml, splitId } from "../../activities/verify/junit.ts";
import type { Outcome } from "../../activities/verify/outcomes.ts";

const outcome = (id: string, more: Partial<Outcome> = {}): Outcome => ({
  id,
  outcome: "passed",
  seconds: 0.25,
  detail: null,
  flaky: false,
  ...more,
});

test("an id is split into module, classes and name, whatever its parameters hold", (t) => {
  t.deepEqual(splitId("a/test_b.py::TestC::test_d[x::y[z]]"), {
    file: "a/test_b.py",
    classname: "a.test_b.TestC",
    name: "test_d[x::y[z]]",
  });
  t.deepEqual(splitId("docs/[draft]/a.py::test"), {
    file: "docs/[draft]/a.py",
    classname: "docs.[draft].a",
    name: "test",
  });
  t.deepEqual(splitId("a.rst::a.rst"), { file: "a.rst", classname: "a.rst", name: "a.rst" });
});

test("another XML parser reads back what was written, odd characters and all", async (t) => {
  const odd = `<&"'>\u0000\u001b\ud800 ü 🍺\n\t]]>`;
  const cases = [
    outcome("a.py::test_one"),
    outcome("a.py::test_two", { outcome: "failed", detail: odd }),
    outcome("a.py::test_three", { outcome: "error", detail: "timeout" }),
    outcome("a.py::test_four", { outcome: "xfailed", detail: "later" }),
    outcome(`a.py::test_five[${odd}]`, { flaky: true, detail: "first" }),
  ];
  const program = `
import json, sys
import xml.etree.ElementTree as tree
suite = tree.fromstring(sys.stdin.buffer.read()).find("testsuite")
print(json.dumps([suite.attrib, [[case.get("name"), [child.tag for child in case]] for case in suite], suite[1][0].get("message")]))`;
  const { stdout } = await execa("python3", ["-c", program], { input: junitXml('s"uite', cases) });
  const clean = `<&"'>\uFFFD\uFFFD\uFFFD ü 🍺\n\t]]>`;
  t.deepEqual(JSON.parse(stdout), [
    { name: 's"uite', tests: "5", failures: "1", errors: "1", skipped: "1", time: "1.250" },
    [
      ["test_one", []],
      ["test_two", ["failure"]],
      ["test_three", ["error"]],
      ["test_four", ["skipped"]],
      [`test_five[${clean}]`, ["system-out"]],
    ],
    clean,
  ]);
});

test("escaped text holds nothing that ends an attribute", (t) => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => t.notRegex(escapeXml(text), /[<>"]/)));
});
