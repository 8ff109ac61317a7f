import test from "ava";
import { breakerReason, streakAfter } from "../../workflows/breaker.ts";
import { stopwatch } from "../../workflows/stopwatch.ts";
import type { RunOutcome } from "../../workflows/types.ts";

const outcome = (
  cause: RunOutcome["cause"],
  validity: RunOutcome["validity"] = "infrastructure",
): RunOutcome => ({
  cell: "c",
  attempt: 1,
  validity,
  cause,
  ebsr: false,
});

test("five infrastructure failures of one cause in a row trip the breaker, a graded run between them does not", (t) => {
  let streak = { cause: null as string | null, length: 0 };
  for (let run = 0; run < 4; run++) streak = streakAfter(streak, outcome("sandbox_lost"));
  t.is(breakerReason(streak, outcome("sandbox_lost")), null);
  const broken = streakAfter(streak, outcome("sandbox_lost"));
  t.is(breakerReason(broken, outcome("sandbox_lost")), "5 runs in a row failed with sandbox_lost");
  const healed = streakAfter(streak, outcome("tests_failed", "valid"));
  t.deepEqual(healed, { cause: null, length: 0 });
  t.deepEqual(streakAfter(streak, outcome("verifier_fault")), { cause: "verifier_fault", length: 1 });
});

test("a quota failure pauses at once", (t) => {
  t.is(
    breakerReason(
      streakAfter({ cause: null, length: 0 }, outcome("quota_exhausted")),
      outcome("quota_exhausted"),
    ),
    "paused by quota_exhausted",
  );
});

test("the stopwatch counts a step's own seconds as work and its waiting as wall time", async (t) => {
  let now = 0;
  const watch = stopwatch(() => now);
  await watch.time(
    async () => {
      now += 30_000;
    },
    () => 10,
  );
  t.is(watch.workingSeconds(), 10);
  t.is(watch.wallSeconds(), 30);
});

test("a night with the machine off is nobody's time", async (t) => {
  let now = 0;
  const watch = stopwatch(() => now);
  await watch.time(
    async () => {
      now += 8 * 3_600_000;
    },
    () => 10,
  );
  t.is(watch.workingSeconds(), 10);
  t.is(watch.wallSeconds(), 70);
});
