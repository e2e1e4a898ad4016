import { expect, test } from 'vitest';
import { exactMoney, money, moneyBeside, moneyInWords } from '../../ui/src/format/numbers.ts';

test('a sum below a cent reads as such, and its digits stand where they count', () => {
  expect([money('0.000049'), moneyInWords('0.000049'), exactMoney('0.000049')]).toEqual([
    '< $0.01',
    'less than $0.01',
    '$0.000049',
  ]);
  expect([money('0.0796'), exactMoney('0.0796')]).toEqual(['$0.08', '$0.080']);
  for (const [amount, shown] of [
    ['0', '$0.00'],
    ['0.01', '$0.01'],
    ['1234.5', '$1,234.50'],
    [null, 'unknown'],
  ] as const) {
    expect([money(amount), moneyInWords(amount), exactMoney(amount)]).toEqual([shown, shown, shown]);
  }
});

test('a sum beside a limit has the digits of the limit, and one below them reads as such', () => {
  for (const [amount, limit, shown] of [
    ['0.0000004321', '0.01', '< $0.01 of $0.01'],
    ['0.0049607', '0.05', '< $0.01 of $0.05'],
    ['12.3456', '50', '$12.35 of $50.00'],
    ['0.00043210987', '0.001', '$0.0004 of $0.0010'],
    ['0.000043', '0.001', '< $0.0001 of $0.0010'],
    ['0.0793333333', '0.0796', '$0.079 of $0.080'],
    ['0', '0.001', '$0.0000 of $0.0010'],
  ] as const) {
    expect(`${moneyBeside(amount, limit)} of ${moneyBeside(limit, limit)}`).toBe(shown);
    expect(moneyBeside(limit, limit)).toBe(exactMoney(limit));
  }
});
