import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calculateTool } from '#core/clients/calculate/index.ts';
import { isJsonObject } from '#lib/json.ts';
import { TIMES } from '#test/support/properties.ts';

describe('the calculate tool', () => {
  const validate = new Ajv2020({ strict: false }).compile(calculateTool.inputSchema);

  test('has one flat input schema that accepts each operation and nothing unknown', () => {
    expect(calculateTool.inputSchema).not.toHaveProperty('oneOf');
    expect(validate({ operation: 'wilson', successes: 1, total: 2 })).toBe(true);
    expect(validate({ operation: 'list_diff', earlier: ['a'], later: [] })).toBe(true);
    expect(validate({ operation: 'wilson', sucesses: 1 })).toBe(false);
    expect(validate({ successes: 1 })).toBe(false);
    const several = [{ operation: 'wilson', successes: 1, total: 2 }];
    expect(validate({ operation: 'several', calls: several })).toBe(true);
    expect(validate({ operation: 'several', calls: [{ successes: 1 }] })).toBe(false);
  });

  test('has objects with named properties only, since some servers refuse an object without any', () => {
    const bare: string[] = [];
    const visit = (schema: unknown, place: string): void => {
      if (Array.isArray(schema)) schema.forEach((each, index) => visit(each, `${place}/${index}`));
      if (!isJsonObject(schema)) return;
      if (schema['type'] === 'object' && schema['properties'] === undefined) bare.push(place);
      for (const [word, each] of Object.entries(schema)) visit(each, `${place}/${word}`);
    };
    visit(calculateTool.inputSchema, '');
    // The caller chooses the names in an expression.
    expect(bare).toEqual(['/properties/variables']);
  });

  test('names each operation in its description', () => {
    const { properties } = calculateTool.inputSchema as {
      properties: { operation: { enum: string[] } };
    };
    expect(properties.operation.enum).toHaveLength(15);
    for (const name of properties.operation.enum) expect(calculateTool.description).toContain(name);
  });

  const LONG = Array.from({ length: 401 }, (_, index) => index);
  const FACTOR = { name: 'sessions', before: 1, after: 2 };
  const EMPTY = { name: 'a', eventsBefore: 0, totalBefore: 0, eventsAfter: 0, totalAfter: 0 };

  test.each([
    [undefined, /operation must be one of arithmetic, wilson/],
    [[], /operation must be one of/],
    [{ operation: 'toString' }, /operation must be one of/],
    [{ operation: 'wilson', successes: 1 }, /^wilson: total: /],
    [{ operation: 'wilson', successes: 3, total: 2 }, /3 successes are more than the total of 2/],
    [{ operation: 'wilson', successes: 0, total: 0 }, /total above 0/],
    [{ operation: 'wilson', successes: 1, total: 2, extra: 1 }, /extra/],
    [{ operation: 'sample_size', baseline: 0.1, target: 0.1 }, /the same rate/],
    [{ operation: 'sample_size', baseline: 3, target: 4 }, /between 0 and 1/],
    [{ operation: 'percent_change', before: 'ten', after: 1 }, /before must be a plain decimal/],
    [{ operation: 'percent_change', before: 0, after: 1, counts: true }, /above 0/],
    [{ operation: 'pacing', plan: 0, spent: 1, daysElapsed: 1, daysTotal: 2 }, /plan must be/],
    [{ operation: 'pacing', plan: 1, spent: 1, daysElapsed: 3, daysTotal: 2 }, /between 1 and/],
    [{ operation: 'mase', training: [1, 2], actual: [1], forecast: [1, 2] }, /both need the same number of values/],
    [{ operation: 'mase', training: [1, 1], actual: [1], forecast: [1] }, /never change/],
    [{ operation: 'list_diff', earlier: Array.from({ length: 2_001 }, String), later: [] }, /2000/],
    [{ operation: 'series', values: [] }, /^series: values/],
    [{ operation: 'series', values: Array.from({ length: 1_001 }, () => 1) }, /1000/],
    [{ operation: 'forecast', values: [1, 2, 3], horizon: 1 }, /at least 6/],
    [{ operation: 'forecast', values: LONG, horizon: 1 }, /401 numbers, more than 400/],
    [{ operation: 'forecast', values: Array.from({ length: 99 }, () => 1), horizon: 1 }, /never change/],
    [{ operation: 'log_split', factors: [FACTOR] }, /^log_split: factors/],
    [{ operation: 'log_split', factors: [FACTOR, { ...FACTOR, after: 0 }] }, /above 0/],
    [{ operation: 'mix_rate', segments: [EMPTY, EMPTY] }, /no segment has a totalBefore above 0/],
    [{ operation: 'text_overlap', textA: 'one two', textB: 'one' }, /textA has 2 words/],
    [{ operation: 'hash', texts: ['x'.repeat(20_001)] }, /20000/],
  ])('says what to send instead: %j', (args, message) => {
    const outcome = calculateTool.execute(args);
    expect(outcome).toMatchObject({ ok: false });
    expect(outcome.ok ? '' : outcome.error).toMatch(message);
  });

  const HALF_SPENT = { plan: 2, spent: 1, daysElapsed: 1, daysTotal: 2 };
  const COUNTED = { before: 49, after: 50, counts: true };
  const SMALLEST = 5e-324;
  const LARGEST = 1e308;
  const numbers = fc.oneof(
    fc.constantFrom(0, 1, 2, 0.5, 0.05, 10, 400, 1_000, 1e12, 1e21),
    fc.constantFrom(-0, -1, SMALLEST, 2 * SMALLEST, 1e-7, LARGEST, -LARGEST, 2 ** 53, 1 - 2 ** -53),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.nat(1_000),
  );
  const texts = fc.constantFrom('0', '1e-999', '-1e60', '9e60', '9'.repeat(40), ' .5 ', '1.');
  const exact = fc.oneof(numbers, texts);
  const counts = fc.oneof(fc.constantFrom(0, 1, 2, 1e12), fc.nat(1_000));
  const rates = fc.oneof(numbers, fc.double({ min: 0, max: 1, noNaN: true }));
  const series = fc.array(numbers, { minLength: 1, maxLength: 5 });
  const confidence = fc.constantFrom(0.5, 0.95, 0.999);

  /** Makes the arguments of an operation: the required ones, and some optional ones. */
  function sent(operation: string, needed: object, besides: object = {}) {
    const fields = { ...needed, ...besides } as Record<string, fc.Arbitrary<unknown>>;
    return fc
      .record(fields, { requiredKeys: Object.keys(needed) })
      .map((input): Record<string, unknown> => ({ operation, ...input }));
  }
  const inputs = fc.oneof(
    sent('wilson', { successes: counts, total: counts }, { confidence }),
    sent('two_proportions', { successesA: counts, totalA: counts, successesB: counts, totalB: counts }, { confidence }),
    sent(
      'sample_size',
      { baseline: rates, target: rates },
      {
        power: fc.constantFrom(0.5, 0.99),
        alpha: fc.constantFrom(0.0001, 0.5),
        sides: fc.constantFrom(1, 2),
      },
    ),
    sent(
      'percent_change',
      { before: exact, after: exact },
      { counts: fc.boolean(), exposureBefore: numbers, exposureAfter: numbers, confidence },
    ),
    sent(
      'pacing',
      { plan: exact, spent: exact, daysElapsed: counts, daysTotal: counts },
      { elapsedShare: rates, dailyDeviation: numbers },
    ),
    sent('mase', { training: series, actual: series, forecast: series }, { season: counts }),
    sent('series', { values: series }, { weight: rates, start: numbers, compare: numbers, quantiles: fc.array(rates) }),
    sent(
      'forecast',
      { values: fc.array(numbers, { minLength: 6, maxLength: 20 }), horizon: fc.nat(9) },
      { season: fc.nat(5), cutoffs: fc.nat(3) },
    ),
    sent('log_split', {
      factors: fc.array(fc.record({ name: texts, before: numbers, after: numbers, divides: fc.boolean() }), {
        minLength: 2,
        maxLength: 4,
      }),
    }),
    sent('mix_rate', {
      segments: fc.array(
        fc.record({
          name: texts,
          eventsBefore: numbers,
          totalBefore: numbers,
          eventsAfter: numbers,
          totalAfter: numbers,
        }),
        { minLength: 2, maxLength: 4 },
      ),
    }),
    sent('text_overlap', { textA: fc.string(), textB: fc.string() }, { words: fc.nat(3) }),
    sent('hash', { texts: fc.array(fc.string()) }),
    sent(
      'arithmetic',
      {
        expression: fc.constantFrom('a + b', 'a / b', 'a ^ b', 'mean(a, b) * sqrt(a)', 'ln(a) * b'),
      },
      { variables: fc.record({ a: exact, b: exact }) },
    ),
  );

  test('has a result of finite numbers, or says why not, with any arguments', () => {
    let results = 0;
    fc.assert(
      fc.property(inputs, (input) => {
        const outcome = calculateTool.execute(input);
        if (outcome.ok) results += 1;
        expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
      }),
      {
        numRuns: 2_000 * TIMES,
        endOnFailure: true,
        examples: [
          [{ operation: 'pacing', ...HALF_SPENT, dailyDeviation: LARGEST }],
          [{ operation: 'mase', training: [LARGEST, -LARGEST], actual: [1], forecast: [1] }],
          [{ operation: 'percent_change', ...COUNTED, exposureBefore: 1e40 }],
          [{ operation: 'sample_size', baseline: SMALLEST, target: 2 * SMALLEST }],
        ],
      },
    );
    // The test is useful only if it has seen results, and not only refusals.
    expect(results).toBeGreaterThan(200);
  });

  test('compares lists as sets of lines', () => {
    expect(
      calculateTool.execute({
        operation: 'list_diff',
        earlier: ['a', ' b', 'b', 'c'],
        later: ['C', 'b', 'd'],
        ignoreCase: true,
      }),
    ).toEqual({
      ok: true,
      result: { added: ['d'], removed: ['a'], kept: 2, duplicates: { earlier: 1, later: 0 } },
    });
  });

  test('has no percent change from nothing, and says the difference', () => {
    expect(calculateTool.execute({ operation: 'percent_change', before: 0, after: 3 })).toEqual({
      ok: true,
      result: { difference: '3', percent: null, interval: null },
    });
  });
});
