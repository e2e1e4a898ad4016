import { describe, expect, test } from 'vitest';
import { calculateTool } from '#core/clients/calculate/index.ts';

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what its operation gives
function calculate<Result>(args: object): Result {
  const outcome = calculateTool.execute(args);
  if (!outcome.ok) throw new Error(outcome.error);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each test names the operation
  return outcome.result as Result;
}

describe('the split of a product', () => {
  interface Split {
    difference: number;
    factors: { name: string; contribution: number }[];
  }

  test('follows equation 5 of Ang, Energy Policy 33 (2005), for energy use by activity, structure and intensity', () => {
    const sectors = [
      { activity: [50, 80], structure: [0.2, 0.5], intensity: [3, 2] },
      { activity: [50, 80], structure: [0.8, 0.5], intensity: [0.5, 0.4] },
    ].map((sector) =>
      calculate<Split>({
        operation: 'log_split',
        factors: Object.entries(sector).map(([name, [before, after]]) => ({ name, before, after })),
      }),
    );
    const sums = ['activity', 'structure', 'intensity'].map((name) =>
      sectors
        .flatMap(({ factors }) => factors)
        .filter((factor) => factor.name === name)
        .reduce((total, { contribution }) => total + contribution, 0),
    );
    // By hand: L(80, 30) = 50 / ln(8/3) = 50.98 and L(16, 20) = 4 / ln(5/4) = 17.93, times ln of 1.6, of 2.5 and 0.625,
    // and of 2/3 and 0.8.
    expect(sums.map((sum) => Number(sum.toFixed(1)))).toEqual([32.4, 38.3, -24.7]);
  });

  test('adds up, also where one factor divides and where the product stays as it was', () => {
    const sumOf = (factors: object[]) => {
      const found = calculate<Split>({ operation: 'log_split', factors });
      const sum = found.factors.reduce((total, { contribution }) => total + contribution, 0);
      expect(sum).toBeCloseTo(found.difference, 2);
      return found;
    };
    const cost = sumOf([
      { name: 'spend', before: 20_000, after: 26_000 },
      { name: 'results', before: 400, after: 430, divides: true },
    ]);
    expect(cost.difference).toBeCloseTo(26_000 / 430 - 50, 3);
    const same = sumOf([
      { name: 'sessions', before: 1_000, after: 2_000 },
      { name: 'rate', before: 0.04, after: 0.02 },
    ]);
    expect(same.difference).toBe(0);
    expect(same.factors[0]!.contribution).toBeCloseTo(40 * Math.LN2, 3);
  });
});

describe('mix and rate', () => {
  interface Mix {
    rateBefore: number;
    rateAfter: number;
    difference: number;
    rateEffect: number;
    mixEffect: number;
  }
  const mix = (rows: [string, number, number, number, number][]) =>
    calculate<Mix>({
      operation: 'mix_rate',
      segments: rows.map(([name, eventsBefore, totalBefore, eventsAfter, totalAfter]) => ({
        name,
        eventsBefore,
        totalBefore,
        eventsAfter,
        totalAfter,
      })),
    });

  test('show that admissions to Berkeley in 1973 differed by department, not against women (Bickel et al., Science 187, 1975)', () => {
    // UCBAdmissions of R: admitted and applicants, men and then women.
    const found = mix([
      ['A', 512, 825, 89, 108],
      ['B', 353, 560, 17, 25],
      ['C', 120, 325, 202, 593],
      ['D', 138, 417, 131, 375],
      ['E', 53, 191, 94, 393],
      ['F', 22, 373, 24, 341],
    ]);
    expect(found.rateBefore).toBeCloseTo(0.445, 3);
    expect(found.rateAfter).toBeCloseTo(0.304, 3);
    expect(found.rateEffect).toBeGreaterThan(0.03);
    expect(found.mixEffect).toBeLessThan(-0.17);
    expect(found.rateEffect + found.mixEffect).toBeCloseTo(found.difference, 5);
  });

  test('count a segment that is new or gone as mix alone', () => {
    const found = mix([
      ['old', 50, 1_000, 50, 1_000],
      ['new', 0, 0, 10, 1_000],
    ]);
    expect(found.rateEffect).toBe(0);
    expect(found.mixEffect).toBeCloseTo(0.03 - 0.05, 6);
  });
});

describe('texts', () => {
  test('share runs of words as in Broder, "On the resemblance and containment of documents" (1997)', () => {
    // The example of the paper: "a rose is a rose is a rose" has three different runs of four words.
    expect(
      calculate({
        operation: 'text_overlap',
        textA: 'A rose is a rose is a rose.',
        textB: 'a rose is a rose',
        words: 4,
      }),
    ).toEqual({
      shingles: { a: 3, b: 2, shared: 2 },
      jaccard: 0.666667,
      containmentA: 0.666667,
      containmentB: 1,
    });
  });

  test('are fingerprinted by SHA-256: "abc" is the example of FIPS 180-4', () => {
    const { hashes } = calculate<{ hashes: string[] }>({
      operation: 'hash',
      texts: ['abc', ' abc\n', 'abd', 'é', 'e\u0301'],
    });
    expect(hashes[0]).toBe('ba7816bf8f01cfea');
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
    expect(hashes[4]).toBe(hashes[3]);
  });
});

describe('several figures in one call', () => {
  test('come in order, and one error leaves the others their results', () => {
    const { results } = calculate<{ results: { ok: boolean; error?: string }[] }>({
      operation: 'several',
      calls: [
        { operation: 'wilson', successes: 9, total: 60 },
        { operation: 'wilson', successes: 61, total: 60 },
        { operation: 'arithmetic', expression: '1 + 1' },
      ],
    });
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(results[1]!.error).toMatch(/^wilson: 61 successes/);
  });

  test.each([
    [{ operation: 'several' }],
    [{ operation: 'several', calls: [] }],
    [{ operation: 'several', calls: [1] }],
    [{ operation: 'several', calls: Array.from({ length: 11 }, () => ({ operation: 'hash' })) }],
    [{ operation: 'several', calls: [{ operation: 'hash', texts: ['a'] }], texts: ['a'] }],
  ])('are refused in another form: %j', (args) => {
    const outcome = calculateTool.execute(args);
    expect(outcome.ok ? '' : outcome.error).toMatch(/^several takes only calls/);
  });

  test('never nest', () => {
    const { results } = calculate<{ results: { error?: string }[] }>({
      operation: 'several',
      calls: [{ operation: 'several', calls: [] }],
    });
    expect(results[0]!.error).toMatch(/operation must be one of/);
  });
});
