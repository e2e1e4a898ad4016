import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { calculateTool } from '#core/calculate/index.ts';

describe('the calculate tool', () => {
  const validate = new Ajv2020({ strict: false }).compile(calculateTool.inputSchema);

  test('has one flat input schema that accepts each operation and nothing unknown', () => {
    expect(calculateTool.inputSchema).not.toHaveProperty('oneOf');
    expect(validate({ operation: 'wilson', successes: 1, total: 2 })).toBe(true);
    expect(validate({ operation: 'list_diff', earlier: ['a'], later: [] })).toBe(true);
    expect(validate({ operation: 'wilson', sucesses: 1 })).toBe(false);
    expect(validate({ successes: 1 })).toBe(false);
  });

  test('names each operation in its description', () => {
    const { properties } = calculateTool.inputSchema as {
      properties: { operation: { enum: string[] } };
    };
    expect(properties.operation.enum).toHaveLength(8);
    for (const name of properties.operation.enum) expect(calculateTool.description).toContain(name);
  });

  test.each([
    [undefined, /operation must be one of arithmetic, wilson/],
    [[], /operation must be one of/],
    [{ operation: 'toString' }, /operation must be one of/],
    [{ operation: 'wilson', successes: 1 }, /^wilson: total: /],
    [{ operation: 'wilson', successes: 3, total: 2 }, /3 successes of 2 are more than all/],
    [{ operation: 'wilson', successes: 0, total: 0 }, /total above 0/],
    [{ operation: 'wilson', successes: 1, total: 2, extra: 1 }, /extra/],
    [{ operation: 'sample_size', baseline: 0.1, target: 0.1 }, /the same rate/],
    [{ operation: 'sample_size', baseline: 3, target: 4 }, /between 0 and 1/],
    [{ operation: 'percent_change', before: 'ten', after: 1 }, /before must be a plain decimal/],
    [{ operation: 'percent_change', before: 0, after: 1, counts: true }, /above 0/],
    [{ operation: 'pacing', plan: 0, spent: 1, daysElapsed: 1, daysTotal: 2 }, /plan must be/],
    [{ operation: 'pacing', plan: 1, spent: 1, daysElapsed: 3, daysTotal: 2 }, /between 1 and/],
    [{ operation: 'mase', training: [1, 2], actual: [1], forecast: [1, 2] }, /must be paired/],
    [{ operation: 'mase', training: [1, 1], actual: [1], forecast: [1] }, /never change/],
    [{ operation: 'list_diff', earlier: Array.from({ length: 2_001 }, String), later: [] }, /2000/],
  ])('says what to send instead: %j', (args, message) => {
    const outcome = calculateTool.execute(args);
    expect(outcome).toMatchObject({ ok: false });
    expect(outcome.ok ? '' : outcome.error).toMatch(message);
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
