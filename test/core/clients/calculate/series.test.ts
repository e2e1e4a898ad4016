import { describe, expect, test } from 'vitest';
import { calculateTool } from '#core/clients/calculate/index.ts';
import { seasonallyAdjusted, smoothDamped } from '#core/clients/calculate/damped-trend.ts';

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what its operation gives
function calculate<Result>(args: object): Result {
  const outcome = calculateTool.execute(args);
  if (!outcome.ok) throw new Error(outcome.error);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each test names the operation
  return outcome.result as Result;
}

type Numbers = Record<string, number>;

/** Beam deflections of Lew, one of the data sets of the NIST Statistical Reference Datasets. */
const LEW = [
  -213, -564, -35, -15, 141, 115, -420, -360, 203, -338, -431, 194, -220, -513, 154, -125, -559, 92, -21, -579, -52, 99,
  -543, -175, 162, -457, -346, 204, -300, -474, 164, -107, -572, -8, 83, -541, -224, 180, -420, -374, 201, -236, -531,
  83, 27, -564, -112, 131, -507, -254, 199, -311, -495, 143, -46, -579, -90, 136, -472, -338, 202, -287, -477, 169,
  -124, -568, 17, 48, -568, -135, 162, -430, -422, 172, -74, -577, -13, 92, -534, -243, 194, -355, -465, 156, -81, -578,
  -64, 139, -449, -384, 193, -198, -538, 110, -44, -577, -6, 66, -552, -164, 161, -460, -344, 205, -281, -504, 134, -28,
  -576, -118, 156, -437, -381, 200, -220, -540, 83, 11, -568, -160, 172, -414, -408, 188, -125, -572, -32, 139, -492,
  -321, 205, -262, -504, 142, -83, -574, 0, 48, -571, -106, 137, -501, -266, 190, -391, -406, 194, -186, -553, 83, -13,
  -577, -49, 103, -515, -280, 201, 300, -506, 131, -45, -578, -80, 138, -462, -361, 201, -211, -554, 32, 74, -533, -235,
  187, -372, -442, 182, -147, -566, 25, 68, -535, -244, 194, -351, -463, 174, -125, -570, 15, 72, -550, -190, 172, -424,
  -385, 198, -218, -536, 96,
];

describe('a series agrees with the certified values of the NIST Statistical Reference Datasets', () => {
  test.each([
    ['Lew', LEW, -177.435, 277.332],
    ['NumAcc1', [10_000_001, 10_000_003, 10_000_002], 10_000_000, 1],
    // A call takes a thousand values, one less than the set has. Mean as in the set; deviation 0.1·√(1000/999).
    [
      'NumAcc4',
      Array.from({ length: 1_000 }, (_, i) => (i % 2 === 0 ? 10_000_000.1 : 10_000_000.3)),
      10_000_000.2,
      0.10005,
    ],
  ])('%s', (_, values, mean, sd) => {
    const found = calculate<Numbers>({ operation: 'series', values });
    expect(found['mean']! / mean).toBeCloseTo(1, 5);
    expect(found['sd']).toBeCloseTo(sd, 5);
  });
});

test('the deviation from the median is that of its textbook example, 1 of 1, 1, 2, 2, 4, 6, 9', () => {
  const found = calculate<Numbers>({
    operation: 'series',
    values: [1, 1, 2, 2, 4, 6, 9],
    compare: 9,
  });
  // NIST/SEMATECH e-Handbook 1.3.5.17: 0.6745 (x - median) / MAD.
  expect(found).toMatchObject({ median: 2, mad: 1, modifiedZ: 4.7215 });
});

test('quantiles are those in the documentation of DataFrame.quantile of pandas', () => {
  const of = (values: number[]) =>
    calculate<{ quantiles: { value: number }[] }>({
      operation: 'series',
      values,
      quantiles: [0.1, 0.5],
    }).quantiles.map(({ value }) => value);
  expect(of([1, 2, 3, 4])).toEqual([1.3, 2.5]);
  expect(of([1, 10, 100, 100])).toEqual([3.7, 55]);
});

test('the moving average ends where that of the NIST/SEMATECH e-Handbook 6.3.2.4 does, at 51.99', () => {
  const values = [
    52, 47, 53, 49.3, 50.1, 47, 51, 50.1, 51.2, 50.5, 49.6, 47.6, 49.9, 51.3, 47.8, 51.2, 52.6, 52.4, 53.6, 52.1,
  ];
  const found = calculate<Numbers>({ operation: 'series', values, weight: 0.3, start: 50 });
  expect(found['ewma']).toBeCloseTo(51.99, 2);
});

test('one value has no deviation, and nothing is far from a series that never changes', () => {
  expect(calculate({ operation: 'series', values: [3], compare: 4 })).toMatchObject({
    sd: null,
    z: null,
    modifiedZ: null,
  });
});

describe('a forecast', () => {
  /** Beer production as in the test of MASE: FPP scores seasonal naive 0.94 and naive 4.01 on the last ten quarters. */
  const BEER = [
    443, 410, 420, 532, 433, 421, 410, 512, 449, 381, 423, 531, 426, 408, 416, 520, 409, 398, 398, 507, 432, 398, 406,
    526, 428, 397, 403, 517, 435, 383, 424, 521, 421, 402, 414, 500, 451, 380, 416, 492, 428, 408, 406, 506, 435, 380,
    421, 490, 435, 390, 412, 454, 416, 403, 408, 482, 438, 386, 405, 491, 427, 383, 394, 473, 420, 390, 410, 488, 415,
    398, 419, 488, 414, 374,
  ];
  interface Found {
    cutoffs: number;
    methods: { method: string; mase: number; forecast: number[]; low80: number[] | null }[];
  }
  const of = (args: object) => {
    const found = calculate<Found>({ operation: 'forecast', ...args });
    const method = (name: string) => found.methods.find(({ method: each }) => each === name);
    return { ...found, method };
  };

  test('is scored like section 3.4 of Forecasting: Principles and Practice (2nd ed.)', () => {
    const { method } = of({ values: BEER, horizon: 10, season: 4, cutoffs: 1 });
    expect(method('seasonal_naive')!.mase).toBeCloseTo(0.94, 2);
    expect(method('naive')!.mase).toBeCloseTo(4.01, 2);
    expect(method('seasonal_naive')!.forecast.slice(0, 4)).toEqual([419, 488, 414, 374]);
  });

  test('has the best scored method first, and no range narrower further off', () => {
    const { methods, cutoffs } = of({ values: BEER, horizon: 8, season: 4 });
    expect(cutoffs).toBe(6);
    expect(methods.map(({ mase }) => mase)).toEqual(methods.map(({ mase }) => mase).toSorted((a, b) => a - b));
    for (const { forecast, low80 } of methods) {
      const halves = forecast.map((value, step) => value - low80![step]!);
      expect(halves.map((half) => Math.round(half))).toEqual(
        halves.toSorted((a, b) => a - b).map((half) => Math.round(half)),
      );
    }
  });

  test('never looks ahead: what comes after the last cut-off changes no score', () => {
    const known = of({ values: BEER, horizon: 4, season: 4, cutoffs: 1 });
    const changed = [...BEER.slice(0, -1), 10_000];
    const surprised = of({ values: changed, horizon: 4, season: 4, cutoffs: 1 });
    // Only the last of four errors differs: by the surprise, divided by the scale and by the four steps.
    const grown = surprised.method('seasonal_naive')!.mase - known.method('seasonal_naive')!.mase;
    expect(grown).toBeGreaterThan(100);
    expect(of({ values: changed.slice(0, -4), horizon: 4, season: 4 }).methods).toEqual(
      of({ values: BEER.slice(0, -4), horizon: 4, season: 4 }).methods,
    );
  });

  test('of a series too short to be scored has neither score nor range', () => {
    const { methods, cutoffs } = of({ values: [1, 2, 3, 4, 5, 6], horizon: 3 });
    expect(cutoffs).toBe(0);
    expect(methods[0]).toMatchObject({ mase: null, low80: null });
  });

  test('follows a steady growth, by last season times the growth too', () => {
    const values = Array.from({ length: 24 }, (_, i) => 100 * 1.5 ** Math.floor(i / 4) * (1 + (i % 4)));
    const { method } = of({ values, horizon: 8, season: 4 });
    expect(method('seasonal_ratio')!.forecast[7]! / values.at(-1)!).toBeCloseTo(2.25, 5);
  });
});

test('the damped trend agrees with ets(livestock, "AAN", damped = TRUE, phi = 0.98) of R, as statsmodels records it', () => {
  const livestock = [
    263.917747, 268.307222, 260.662556, 266.639419, 277.515778, 283.834045, 290.309028, 292.474198, 300.830694,
    309.286657, 318.331081, 329.37239, 338.883998, 339.244126, 328.600632, 314.255385, 314.459695, 321.413779,
    329.789292, 346.385165, 352.297882, 348.370515, 417.562922, 417.12357, 417.749459, 412.233904, 411.946817,
    394.697075, 401.49927, 408.270468, 414.2428,
  ];
  const { level, slope, sse } = smoothDamped(livestock, {
    alpha: 0.97402626,
    beta: 0.00010006,
    phi: 0.98,
    level: 252.59039965,
    slope: 6.90265918,
  });
  expect(sse / livestock.length).toBeCloseTo(195.43979, 2);
  expect(level).toBeCloseTo(414.18146, 3);
  expect(slope).toBeCloseTo(3.69055, 2);
});

test('the season agrees with decompose of R on the quarters that statsmodels tests with', () => {
  const values = [
    -50, 175, 149, 214, 247, 237, 225, 329, 729, 809, 530, 489, 540, 457, 195, 176, 337, 239, 128, 102, 232, 429, 3, 98,
    43, -141, -77, -13, 125, 361, -45, 184,
  ];
  const { adjusted, restore } = seasonallyAdjusted(values, 4);
  const season = values.slice(0, 4).map((value, place) => value - adjusted[place]!);
  [62.46, 86.17, -88.38, -60.25].forEach((published, place) => {
    expect(season[place]).toBeCloseTo(published, 2);
  });
  expect(restore(adjusted[5]!, 5)).toBeCloseTo(values[5]!, 9);
});
