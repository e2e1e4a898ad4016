import { expect, test } from 'vitest';
import { safeLabel } from '#core/models/connections/sign-in/keep.ts';

const provider = { file: { name: 'Example' } } as Parameters<typeof safeLabel>[0];

test.each([
  ['grace@navy.example', 'g…@navy.example'],
  ['"grace@home"@navy.example', '"…@navy.example'],
  ['grace@home@navy.example', 'g…@navy.example'],
  ['grace\n@navy.example', 'g…@navy.example'],
  ['grace@', 'g…@'],
  ['@grace', '@grace'],
  ['Team of Grace', 'Team of Grace'],
  [null, 'Example account'],
])('the account %j is shown as %j', (claimed, shown) => {
  expect(safeLabel(provider, claimed)).toBe(shown);
});
