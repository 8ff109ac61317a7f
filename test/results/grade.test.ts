import test from "ava";
import fc from "fast-check";
import { CAUSE_NAMES, CAUSES, type Cause } from "../../results/causes.ts";
import { grade, type RunFacts } from "../../results/grade.ts";

const good: RunFacts = {
  language: "python",
  goldVerified: 90,
  replay: { exit: 0 },
  collection: { ok: true, count: 100, errors: 0 },
  tests: { passed: 90, failed: 0, errors: 0, gold: { verified: 90, passed: 90 } },
  verdict: null,
  agentCause: null,
  infrastructure: null,
};

test("a run whose every stage succeeds is valid, built, without cause and with all gold", (t) => {
  t.deepEqual(grade(good), {
    validity: "valid",
    cause: null,
    ebsr: true,
    essr: 1,
    gold: { verified: 90, passed: 90 },
  });
});

test("the first failing stage names the cause", (t) => {
  const cause = (changes: Partial<RunFacts>) => grade({ ...good, ...changes }).cause;
  const tests = { passed: 1, failed: 1, errors: 0, gold: { verified: 90, passed: 1 } };
  const noCollection = { ok: false, count: 0, errors: 3 };
  t.is(cause({ replay: { exit: 2 }, collection: noCollection, tests }), "artifact_failed");
  t.is(cause({ replay: { exit: null }, collection: null, tests: null }), "artifact_failed");
  t.is(cause({ collection: noCollection, tests }), "collection_failed");
  t.is(cause({ collection: { ok: true, count: 0, errors: 0 } }), "collection_failed");
  t.is(cause({ collection: { ok: true, count: 5, errors: 1 } }), "collection_failed");
  t.is(cause({ tests, verdict: "guilty" }), "tests_failed");
  t.is(cause({ verdict: "guilty", agentCause: "agent_budget" }), "guilty");
  t.is(cause({ agentCause: "agent_budget" }), "agent_budget");
  t.is(cause({ tests, agentCause: "agent_budget" }), "tests_failed");
});

test("without an artifact the agent's own cause is named, and artifact_failed when it gave none", (t) => {
  const nothing = { ...good, replay: null, collection: null, tests: null };
  t.is(grade({ ...nothing, agentCause: "agent_gave_up" }).cause, "agent_gave_up");
  t.deepEqual(grade(nothing), {
    validity: "valid",
    cause: "artifact_failed",
    ebsr: false,
    essr: 0,
    gold: { verified: 90, passed: 0 },
  });
});

test("infrastructure beats everything and stays in the denominator as failed", (t) => {
  const lost = grade({ ...good, agentCause: "agent_budget", infrastructure: "sandbox_lost" });
  t.deepEqual(lost, {
    validity: "infrastructure",
    cause: "sandbox_lost",
    ebsr: false,
    essr: 0,
    gold: { verified: 90, passed: 0 },
  });
  t.is(grade({ ...good, goldVerified: null, tests: null, infrastructure: "capacity" }).essr, null);
  t.throws(() => grade({ ...good, infrastructure: "tests_failed" }), {
    message: /not an infrastructure cause/,
  });
});

test("a stage that should have run and has no result is the verifier's fault", (t) => {
  t.is(grade({ ...good, collection: null }).cause, "verifier_fault");
  t.is(grade({ ...good, tests: null }).cause, "verifier_fault");
  t.is(grade({ ...good, tests: null }).validity, "infrastructure");
});

test("a failed build can still have gold tests that pass", (t) => {
  const graded = grade({
    ...good,
    replay: { exit: 1 },
    tests: { passed: 45, failed: 45, errors: 0, gold: { verified: 90, passed: 45 } },
  });
  t.is(graded.ebsr, false);
  t.is(graded.essr, 0.5);
});

test("without gold a failed or errored test is a cause, skipped ones are not, and ESSR stays null", (t) => {
  const tests = { passed: 50, failed: 0, errors: 0, gold: null };
  const noGold = { ...good, goldVerified: null, tests };
  t.like(grade(noGold), { cause: null, essr: null, gold: null, ebsr: true });
  t.is(grade({ ...noGold, tests: { ...tests, errors: 1 } }).cause, "tests_failed");
  t.is(grade({ ...noGold, tests: { ...tests, failed: 1 } }).cause, "tests_failed");
});

test("a language whose tests are not collected is graded by build success", (t) => {
  const rust = { ...good, language: "rust", goldVerified: null, collection: null, tests: null };
  t.like(grade(rust), { ebsr: true, essr: 1, cause: null, validity: "valid" });
  t.like(grade({ ...rust, replay: { exit: 101 } }), { ebsr: false, essr: 0, cause: "artifact_failed" });
  t.like(grade({ ...rust, infrastructure: "sandbox_lost" }), {
    ebsr: false,
    essr: 0,
    validity: "infrastructure",
  });
});

test("for any facts: validity follows the table of causes, ESSR is a fraction, and no cause means built", (t) => {
  const count = fc.integer({ min: 0, max: 5 });
  const causes = (agent: boolean) => CAUSE_NAMES.filter((name) => CAUSES[name].agent === agent);
  const facts: fc.Arbitrary<RunFacts> = fc.record({
    language: fc.constantFrom("python", "rust"),
    goldVerified: fc.option(fc.integer({ min: 1, max: 5 })),
    replay: fc.option(fc.record({ exit: fc.option(count) })),
    collection: fc.option(fc.record({ ok: fc.boolean(), count, errors: count })),
    tests: fc.option(
      fc.record({
        passed: count,
        failed: count,
        errors: count,
        gold: fc.option(fc.record({ verified: fc.integer({ min: 1, max: 5 }), passed: count })),
      }),
    ),
    verdict: fc.constantFrom("guilty", "not_guilty", "timeout", null),
    agentCause: fc.option(fc.constantFrom(...causes(true))),
    infrastructure: fc.option(fc.constantFrom(...causes(false))) as fc.Arbitrary<Cause | null>,
  });
  fc.assert(
    fc.property(facts, (given) => {
      const graded = grade(given);
      const fair = graded.cause === null || CAUSES[graded.cause].graded === (graded.validity === "valid");
      const fraction = graded.essr === null || (graded.essr >= 0 && graded.essr <= 1);
      const failed = graded.cause !== null || graded.ebsr;
      const infrastructure = given.infrastructure === null || graded.cause === given.infrastructure;
      return fair && fraction && failed && infrastructure && (graded.validity === "valid" || !graded.ebsr);
    }),
    { numRuns: 1000 },
  );
  t.pass();
});
