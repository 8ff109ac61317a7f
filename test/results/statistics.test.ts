import test from "ava";
import fc from "fast-check";
import {
  bootstrap,
  clusteredRate,
  mcnemarExact,
  meanFraction,
  passAtK,
  passHatK,
  randomSource,
  smallestDetectable,
  wilson,
} from "../../results/statistics.ts";

const close = (a: number | null | undefined, b: number, tolerance = 5e-4) =>
  a !== null && a !== undefined && Math.abs(a - b) <= tolerance;

const share = fc
  .integer({ min: 1, max: 400 })
  .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));

test("Wilson's interval equals the published values of Newcombe 1998, table I (method 3)", (t) => {
  // Newcombe, Statistics in Medicine 17:857: 81/263, 15/148, 0/20 and 1/29.
  for (const [x, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const estimate = wilson(x, n);
    t.true(close(estimate?.low, low, 5e-5) && close(estimate?.high, high, 5e-5), JSON.stringify(estimate));
  }
  t.is(wilson(0, 0), null);
});

test("Wilson's interval lies in 0–1, holds the share, mirrors with failures and narrows with n", (t) => {
  fc.assert(
    fc.property(share, ([x, n]) => {
      const estimate = wilson(x, n);
      const mirror = wilson(n - x, n);
      const larger = wilson(4 * x, 4 * n);
      if (!estimate || !mirror || !larger) return false;
      return (
        estimate.low >= 0 &&
        estimate.high <= 1 &&
        estimate.low <= estimate.value &&
        estimate.value <= estimate.high &&
        Math.abs(estimate.low - (1 - mirror.high)) < 1e-12 &&
        larger.high - larger.low < estimate.high - estimate.low
      );
    }),
  );
  t.pass();
});

test("one run per repository makes the clustered interval plain Wilson", (t) => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), (runs) => {
      const clusters = runs.map((success) => ({ successes: Number(success), n: 1 }));
      return (
        JSON.stringify(clusteredRate(clusters)) ===
        JSON.stringify(wilson(runs.filter(Boolean).length, runs.length))
      );
    }),
  );
  t.pass();
});

test("repeats that always agree within a repository add nothing to a clustered interval", (t) => {
  // 20 repositories × 5 identical runs, 10 repositories pass: linearised variance 20/19 · 0.25/20, effective n = 19.
  const clusters = Array.from({ length: 20 }, (_, index) => ({ successes: index < 10 ? 5 : 0, n: 5 }));
  const clustered = clusteredRate(clusters);
  t.deepEqual(clustered, wilson(9.5, 19));
  const independent = wilson(50, 100);
  t.true((clustered?.high ?? 0) - (clustered?.low ?? 0) > (independent?.high ?? 1) - (independent?.low ?? 0));
});

test("a clustered interval is never narrower than that of independent runs, and all-pass counts repositories once", (t) => {
  const clusterOf = fc
    .integer({ min: 1, max: 6 })
    .chain((n) => fc.record({ successes: fc.integer({ min: 0, max: n }), n: fc.constant(n) }));
  fc.assert(
    fc.property(fc.array(clusterOf, { minLength: 1, maxLength: 30 }), (clusters) => {
      const n = clusters.reduce((sum, cluster) => sum + cluster.n, 0);
      const x = clusters.reduce((sum, cluster) => sum + cluster.successes, 0);
      const [clustered, plain] = [clusteredRate(clusters), wilson(x, n)];
      if (!clustered || !plain) return false;
      const width = clustered.high - clustered.low - (plain.high - plain.low);
      return width > -1e-9 && Math.abs(clustered.value - x / n) < 1e-9;
    }),
  );
  t.deepEqual(clusteredRate(Array.from({ length: 10 }, () => ({ successes: 3, n: 3 }))), wilson(10, 10));
});

test("the bootstrap is deterministic, holds its mean and depends on the seed", (t) => {
  const values = [0, 0.2, 0.5, 0.9, 1, 1, 0.7];
  t.deepEqual(bootstrap(values), bootstrap([...values]));
  t.notDeepEqual(bootstrap(values, { seed: 1 }), bootstrap(values, { seed: 2 }));
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 25 }),
      (fractions) => {
        const drawn = meanFraction(fractions, { resamples: 300 });
        if (!drawn) return false;
        return (
          drawn.low >= 0 &&
          drawn.high <= 1 &&
          drawn.low <= drawn.value + 1e-12 &&
          drawn.value <= drawn.high + 1e-12
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("the bootstrap of a large sample agrees with the normal interval of its mean", (t) => {
  // 0 … 399 over 399: sd = sqrt((400² − 1) / 12) / 399, half width 1.96 · sd / √400 = 0.02836.
  const values = Array.from({ length: 400 }, (_, index) => index / 399);
  const drawn = bootstrap(values);
  t.true(close(drawn?.value, 0.5, 1e-12));
  t.true(
    close(drawn?.low, 0.5 - 0.02836, 0.002) && close(drawn?.high, 0.5 + 0.02836, 0.002),
    JSON.stringify(drawn),
  );
});

test("where resampling shows no variation its ends are unknown, and fractions take Wilson's", (t) => {
  t.deepEqual(bootstrap([3, 3, 3]), { value: 3, low: null, high: null });
  t.deepEqual(bootstrap([7]), { value: 7, low: null, high: null });
  t.is(bootstrap([]), null);
  t.deepEqual(meanFraction([1, 1, 1, 1]), wilson(4, 4));
});

test("McNemar's exact p equals hand-computed binomial tails", (t) => {
  t.is(mcnemarExact(0, 0), 1);
  t.true(close(mcnemarExact(6, 0), 2 / 64, 1e-9)); // 2 · (1/2)^6
  t.true(close(mcnemarExact(2, 8), 2 * (56 / 1024), 1e-9)); // 2 · (1 + 10 + 45) / 2^10
  t.is(mcnemarExact(5, 5), 1);
  // 2 · Σ C(40, k) / 2^40 for k ≤ 10, in whole numbers (Python's math.comb).
  t.true(close(mcnemarExact(10, 30), 0.0022214337732293643, 1e-12));
});

test("McNemar's p is symmetric, at most 1 and falls as discordance tilts", (t) => {
  const counts = fc.integer({ min: 0, max: 500 });
  fc.assert(
    fc.property(counts, counts, (b, c) => {
      const p = mcnemarExact(b, c);
      const tilted = mcnemarExact(Math.min(b, c), Math.max(b, c) + 1);
      return p === mcnemarExact(c, b) && p > 0 && p <= 1 && tilted <= p + 1e-9;
    }),
  );
  t.pass();
});

test("the smallest detectable difference inverts Connor's sample size", (t) => {
  // δ = 0.10, ψ = 0.30: ((1.95996·√0.30 + 0.84162·√0.29) / 0.10)² = (1.073522 + 0.453225)² · 100 = 233.1 by hand.
  t.true(close(smallestDetectable(233.1, 0.3), 0.1, 1e-4));
  t.is(smallestDetectable(0, 0.2), null);
  t.is(smallestDetectable(5, 0.2), null);
});

test("more repositories never raise the smallest detectable difference, more discordance never lowers it", (t) => {
  const n = fc.integer({ min: 8, max: 2000 });
  const discordant = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(n, discordant, discordant, (size, one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      const of = (count: number, psi: number) => smallestDetectable(count, psi) ?? 1;
      return of(size + 50, less) <= of(size, less) + 1e-9 && of(size, more) >= of(size, less) - 1e-9;
    }),
  );
  t.pass();
});

test("pass@k and pass^k equal their definition by counting draws", (t) => {
  // n = 5, c = 2, k = 2: C(3,2)/C(5,2) = 3/10 all fail, C(2,2)/C(5,2) = 1/10 all pass.
  t.true(close(passAtK(5, 2, 2), 0.7, 1e-12));
  t.true(close(passHatK(5, 2, 2), 0.1, 1e-12));
  t.is(passAtK(2, 1, 3), null);
  fc.assert(
    fc.property(share, fc.integer({ min: 1, max: 8 }), ([c, n], k) => {
      const [any, all] = [passAtK(n, c, k), passHatK(n, c, k)];
      if (any === null || all === null) return k > n;
      const mean = c / n;
      return all <= mean + 1e-12 && mean <= any + 1e-12 && Math.abs((passAtK(n, c, 1) ?? -1) - mean) < 1e-12;
    }),
  );
});

test("the random source draws evenly", (t) => {
  const random = randomSource(7);
  const bins = new Array<number>(10).fill(0);
  for (let draw = 0; draw < 50_000; draw++) {
    const bin = Math.floor(random() * 10);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const chiSquare = bins.reduce((sum, seen) => sum + (seen - 5000) ** 2 / 5000, 0);
  t.true(chiSquare < 27.88, `chi-square ${chiSquare} with 9 degrees of freedom; 27.88 is its 0.999 quantile`);
});
