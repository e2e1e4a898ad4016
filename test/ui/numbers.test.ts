import { expect, test } from 'vitest';
import { exactMoney, money, moneyInWords } from '../../ui/src/format/numbers.ts';

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
