import { describe, expect, test } from 'vitest';
import { calculateTool } from '#core/clients/calculate/index.ts';

function calculate(args: object): Record<string, unknown> {
  const outcome = calculateTool.execute(args);
  if (!outcome.ok) throw new Error(outcome.error);
  return outcome.result as Record<string, unknown>;
}

describe('the Wilson interval agrees with Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3', () => {
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (successes, total, low, high) => {
    const found = calculate({ operation: 'wilson', successes, total });
    expect(found['low']).toBeCloseTo(low, 4);
    expect(found['high']).toBeCloseTo(high, 4);
  });
});

describe('the interval of a difference agrees with Newcombe 1998, Statistics in Medicine 17:873-890, table II, method 10', () => {
  test.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [5, 56, 0, 29, -0.0381, 0.1926],
  ])('%i of %i minus %i of %i', (sB, nB, sA, nA, low, high) => {
    const found = calculate({
      operation: 'two_proportions',
      successesA: sA,
      totalA: nA,
      successesB: sB,
      totalB: nB,
    });
    expect(found['low']).toBeCloseTo(low, 4);
    expect(found['high']).toBeCloseTo(high, 4);
  });
});

test('the pooled z is the root of the chi-square that a table of the same counts has', () => {
  // 56/70 against 48/80: chi-square without correction = n(ad - bc)² / (row and column totals), computed by hand.
  const chiSquare = (150 * (48 * 14 - 32 * 56) ** 2) / (80 * 70 * 104 * 46);
  const found = calculate({
    operation: 'two_proportions',
    successesA: 48,
    totalA: 80,
    successesB: 56,
    totalB: 70,
  });
  expect(Number(found['z']) ** 2).toBeCloseTo(chiSquare, 4);
  expect(found['relative']).toBeCloseTo(1 / 3, 5);
});

test('the two-sided p of the usual critical values is that of every printed table', () => {
  // Two arms of 1,000,000 with a difference of z standard errors, so the p-value is that of the normal table.
  const found = calculate({
    operation: 'two_proportions',
    successesA: 500_000,
    totalA: 1_000_000,
    successesB: 501_386,
    totalB: 1_000_000,
  });
  expect(found['z']).toBeCloseTo(1.96, 2);
  expect(found['pValue']).toBeCloseTo(0.05, 3);
});

test('two arms without a single success have no z', () => {
  const found = calculate({
    operation: 'two_proportions',
    successesA: 0,
    totalA: 10,
    successesB: 0,
    totalB: 10,
  });
  expect(found).toMatchObject({ z: null, pValue: null, relative: null, difference: 0 });
});

describe('the sample size agrees with power.prop.test of R', () => {
  test('power.prop.test(p1 = .50, p2 = .75, power = .90) is n = 76.7 in its documentation', () => {
    const found = calculate({ operation: 'sample_size', baseline: 0.5, target: 0.75, power: 0.9 });
    expect(found['perArm']).toBe(77);
  });

  test('and is near the shortcut 16 p (1 - p) / d² of Kohavi, Tang and Xu', () => {
    const found = calculate({ operation: 'sample_size', baseline: 0.03, target: 0.033 });
    expect(Number(found['perArm']) / ((16 * 0.03 * 0.97) / 0.003 ** 2)).toBeCloseTo(1, 1);
  });
});

test('a ratio of rates agrees with the log-scale formula of Kirkwood and Sterne, chapter 23', () => {
  // 33 cases in 355 child-years against 24 in 518: rate ratio 2.01, 95 % interval 1.19 to 3.39.
  const found = calculate({
    operation: 'percent_change',
    before: 24,
    after: 33,
    exposureBefore: 518,
    exposureAfter: 355,
    counts: true,
  });
  expect(Number(found['percent']) / 100 + 1).toBeCloseTo(2.01, 2);
  const { low, high } = found['interval'] as { low: number; high: number };
  expect(low / 100 + 1).toBeCloseTo(1.19, 2);
  expect(high / 100 + 1).toBeCloseTo(3.39, 1);
});

describe('pacing', () => {
  test('of one day left is the interval of the mean method, s·√(1 + 1/T), of Forecasting: Principles and Practice 5.5', () => {
    const found = calculate({
      operation: 'pacing',
      plan: 1_000,
      spent: 900,
      daysElapsed: 9,
      daysTotal: 10,
      dailyDeviation: 30,
    });
    const { low, high } = found['range'] as { low: number; high: number };
    expect((high - low) / 2).toBeCloseTo(2 * 30 * Math.sqrt(1 + 1 / 9), 1);
    expect(found['planInsideRange']).toBe(true);
  });

  test('weighs days where a share says so', () => {
    const found = calculate({
      operation: 'pacing',
      plan: 30_000,
      spent: 13_800,
      daysElapsed: 12,
      daysTotal: 30,
      elapsedShare: 0.385,
      dailyDeviation: 180,
    });
    expect(found).toMatchObject({ projected: '35844.16', left: '16200', perDayLeft: '900' });
    expect(found['planInsideRange']).toBe(false);
  });

  test('of the last day has no money per day left', () => {
    const found = calculate({
      operation: 'pacing',
      plan: 100,
      spent: 90,
      daysElapsed: 30,
      daysTotal: 30,
    });
    expect(found).toMatchObject({ perDayLeft: null, projected: '90', range: null });
  });
});

/**
 * Quarterly Australian beer production, megalitres, 1992 to 2007 and 2008 Q1 to 2010 Q2 (Australian Bureau of
 * Statistics, 8301.0.55.001).
 */
const TRAINING = [
  443, 410, 420, 532, 433, 421, 410, 512, 449, 381, 423, 531, 426, 408, 416, 520, 409, 398, 398, 507, 432, 398, 406,
  526, 428, 397, 403, 517, 435, 383, 424, 521, 421, 402, 414, 500, 451, 380, 416, 492, 428, 408, 406, 506, 435, 380,
  421, 490, 435, 390, 412, 454, 416, 403, 408, 482, 438, 386, 405, 491, 427, 383, 394, 473,
];
const ACTUAL = [420, 390, 410, 488, 415, 398, 419, 488, 414, 374];

describe('MASE agrees with Forecasting: Principles and Practice (2nd ed.), section 3.4, beer production', () => {
  test.each([
    ['seasonal naive', Array.from({ length: 10 }, (_, i) => TRAINING[60 + (i % 4)]), 13.4, 0.94],
    ['naive', Array.from({ length: 10 }, () => 473), 57.4, 4.01],
    ['mean', Array.from({ length: 10 }, () => TRAINING.reduce((a, b) => a + b, 0) / TRAINING.length), 34.83, 2.44],
  ])('%s', (_, forecast, mae, mase) => {
    const found = calculate({
      operation: 'mase',
      training: TRAINING,
      actual: ACTUAL,
      forecast,
      season: 4,
    });
    expect(found['mae']).toBeCloseTo(mae, 1);
    expect(found['mase']).toBeCloseTo(mase, 2);
  });
});
