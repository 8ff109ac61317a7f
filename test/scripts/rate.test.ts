import test from "ava";
import { rateMeter } from "../../scripts/cli/rate.ts";

const MINUTE = 60_000;

test("the rate is that of the last ten minutes, whatever was before", (t) => {
  const rate = rateMeter(0);
  for (let minute = 1; minute <= 60; minute++) rate(0, minute * MINUTE);
  for (let minute = 61; minute <= 80; minute++) rate((minute - 60) * 3, minute * MINUTE);
  t.is(rate(63, 81 * MINUTE), 0.05);
});

test("nothing is said before something was seen", (t) => {
  const rate = rateMeter(0);
  t.is(rate(0, MINUTE), null);
  t.is(rateMeter(0)(5, 1_000), null);
  t.is(rate(6, 2 * MINUTE), 0.05);
});
