import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calculateTool, evaluateExpression } from '#core/clients/calculate/index.ts';
import { TIMES } from '#test/support/properties.ts';

function value(expression: string, variables?: Record<string, number | string>): unknown {
  const outcome = calculateTool.execute({
    operation: 'arithmetic',
    expression,
    ...(variables === undefined ? {} : { variables }),
  });
  return outcome.ok ? (outcome.result as { value: string }).value : outcome.error;
}

describe('arithmetic', () => {
  test.each([
    ['0.1 + 0.2', '0.3'],
    ['1.1 * 1.1', '1.21'],
    ['-2^2', '-4'],
    ['2^3^2', '512'],
    ['2^-2', '0.25'],
    ['(1 + 2) * -3', '-9'],
    ['10 % * 250', '25'],
    ['7 / 3', '2.333333333333'],
    ['round(2.5)', '3'],
    ['round(-2.5)', '-3'],
    ['round(1.005, 2)', '1.01'],
    ['sum(1, 2, 3.5)', '6.5'],
    ['mean(1, 2)', '1.5'],
    ['median(9, 1, 5)', '5'],
    ['median(4, 1, 2, 3)', '2.5'],
    ['min(3, -1) + max(3, -1) + abs(-2)', '4'],
    ['sqrt(2)', '1.414213562373'],
    ['sqrt(0)', '0'],
    ['sqrt(1e59) / 1e29', '3.162277660168'],
    // The library would search for this root without end.
    ['sqrt(9.743237145368888e-77) * 1e38', '0.987078373047'],
    ['sqrt(0.004e-100) * 1e51', '0.632455532034'],
    ['ln(exp(1))', '1'],
    ['32 ^ 0.2', '2'],
    ['400 × 3 ÷ 4 − 1', '299'],
    ['1e3 + .5', '1000.5'],
    ['(-1)^3', '-1'],
    ['round(1.0000000000000001^100000, 6)', '1'],
  ])('%s is %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  test('takes variables, as numbers or as text', () => {
    expect(value('spend / leads', { spend: '20000.10', leads: 400 })).toBe('50.00025');
  });

  test('says whether a result is exact', () => {
    expect(evaluateExpression('0.1 * 3').exact).toBe(true);
    expect(evaluateExpression('sqrt(4)').exact).toBe(false);
  });

  test('adds and multiplies whole numbers as integers of any size do', () => {
    const whole = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        const found = evaluateExpression('(a + b) * c', { a, b, c }).value;
        expect(found.eq(((BigInt(a) + BigInt(b)) * BigInt(c)).toString())).toBe(true);
      }),
    );
  });
});

describe('an expression that has no value is told in words', () => {
  test.each([
    ['', 'the expression is empty'],
    ['1 / 0', 'division by zero'],
    ['0 ^ -1', 'division by zero'],
    ['sqrt(-1)', 'there is no root of -1'],
    ['ln(0)', 'there is no logarithm of 0'],
    ['(-8) ^ 0.5', 'a negative number has no fractional power'],
    ['1 +', 'the expression ends too early'],
    ['(1', '")" is missing'],
    ['1 2', 'the expression has an unexpected "2"'],
    ['a + 1', 'there is no variable "a"'],
    ['constructor', 'there is no variable "constructor"'],
    ['toString(1)', /there is no function toString; use one of abs, min/],
    ['sqrt(1, 2)', 'sqrt takes 1 number, not 2'],
    ['round(1, 2, 3)', 'round takes 1 or 2 numbers, not 3'],
    ['round(1, 99)', 'round takes 0 to 12 places'],
    ['1; 2', 'cannot read the expression at "; 2"'],
    ['9^999', 'the result has more than 60 digits before the point'],
    ['99999999999999999999^1000', 'the result is not a finite number'],
    // A sum with the next term would fill the memory with zeros.
    ['((1e-999^2000)^2000) + 1', 'the result has more than 1100 zeros after the point'],
    ['1e-999 * 1e-999', 'the result has more than 1100 zeros after the point'],
    ['2^1001', 'the result has more than 60 digits before the point'],
    ['(-2)^0.5', 'a negative number has no fractional power'],
    ['exp(1000)', 'the result is not a finite number'],
    [`${'('.repeat(60)}1${')'.repeat(60)}`, 'the expression is nested too deeply'],
    [`${'-'.repeat(60)}1`, 'the expression is nested too deeply'],
  ])('%s', (expression, message) => {
    expect(value(expression)).toMatch(message);
  });

  test('also an endless one', () => {
    expect(value('1+'.repeat(600))).toMatch(/at most 1000 characters|Too big/);
  });

  test('and long numbers take no longer than short ones', () => {
    const a = '1.23456789012345678901234567890123456789';
    const before = process.threadCpuUsage();
    value(Array.from({ length: 400 }, () => 'a').join('*'), { a });
    value('a^1000', { a });
    value('a^1e60', { a });
    value('(a^50)^50', { a });
    // Without a limit each expression takes seconds of CPU.
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });

  test('no text makes it throw or hang', () => {
    const pieces =
      '0 1 9 .5 1e3 1e-999 2000 99999999999999999999 + - * / ^ % ( ) , sqrt( ln( exp( round( median( min( a é';
    const texts = fc.oneof(
      fc.string({ maxLength: 60, unit: 'grapheme' }),
      // Texts that look like expressions reach later stages of the parser.
      fc.string({ maxLength: 30, unit: fc.constantFrom(' ', ...pieces.split(' ')) }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const outcome = calculateTool.execute({ operation: 'arithmetic', expression: text });
        expect(typeof outcome.ok).toBe('boolean');
      }),
      { numRuns: 500 * TIMES },
    );
  });
});
