import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTATIONS } from '#dev/scripts/mutations/list.ts';

test.for(MUTATIONS)('the code has the place where it is made: $name', ({ file, from, to, tests }) => {
  expect(readFileSync(file, 'utf8').split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
  expect(tests.filter((each) => !existsSync(each))).toEqual([]);
});
