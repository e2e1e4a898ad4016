import { expect, test } from 'vitest';
import { invalid } from '#lib/errors.ts';
import { nextCursorOf } from '../../ui/src/api/call.ts';
import { ApiError } from '../../ui/src/api/error.ts';

test('the faults that the API lists in one message come apart again, each at its field', () => {
  const faults = [
    { path: 'name', message: 'must not be empty' },
    { path: 'limits.maxSteps', message: 'must be at most 100' },
    { path: 'skills[2]', message: 'no such skill; it may have been deleted' },
    { path: 'body', message: 'unknown field' },
  ];
  const { message, code } = invalid(faults);
  expect(new ApiError({ status: 400, code, message }).faults).toEqual(faults);
});

test('a message that names no field has no faults', () => {
  const error = new ApiError({ status: 400, code: 'invalid_json', message: 'It is not JSON.' });
  expect(error.faults).toEqual([]);
  expect(new ApiError({ status: 404, code: 'x', message: 'name: y' }).faults).toEqual([]);
});

test('a list continues where its Link header says', () => {
  const link = '<http://api.test/v1/runs?limit=2&cursor=abc%3D>; rel="next"';
  expect(nextCursorOf(link)).toBe('abc=');
  expect(nextCursorOf('<http://api.test/v1/runs?cursor=a>; rel="prev"')).toBeUndefined();
  expect(nextCursorOf(null)).toBeUndefined();
});
