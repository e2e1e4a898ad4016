import { expect, test } from 'vitest';
import { cronOf, presetOf } from '../../ui/src/format/schedule.ts';
import { levelsFor } from '../../ui/src/shell/access/levels.ts';
import { orderOf } from '../../ui/src/shell/palette/match.ts';

test('a program that asks for nothing in particular is offered every level of access', () => {
  const levels = levelsFor(undefined);
  expect(levels.map(({ label }) => label)).toEqual(['Read', 'Run', 'Build']);
  for (const [place, { scopes }] of levels.entries()) {
    expect(scopes).toEqual(expect.arrayContaining([...(levels[place - 1]?.scopes ?? [])]));
  }
});

test('a program can get only the access that it asked for, and each level is offered once', () => {
  expect(levelsFor(['runs:read']).map(({ scopes }) => scopes)).toEqual([['runs:read']]);
  expect(levelsFor(['runs:read', 'runs:write']).map(({ scopes }) => scopes.length)).toEqual([1, 2]);
  expect(levelsFor([])).toEqual([]);
});

test.for([
  ['*/15 * * * *', 'minutes'],
  ['7 * * * *', 'hourly'],
  ['30 6 * * *', 'daily'],
  ['0 9 * * 1,3,5', 'weekly'],
  ['0 9 1 * *', 'monthly'],
] as const)('the schedule %s is a choice, and is written as it was read', ([cron, kind]) => {
  const preset = presetOf(cron);
  expect(preset?.kind).toBe(kind);
  expect(cronOf(preset!)).toBe(cron);
});

test.for(['0 7 1 1,4,7,10 *', '*/7 * * * *', '0 7 1 * 1', '0 7-9 * * *', '0 25 * * *', '', '0 7 * *'])(
  'the schedule "%s" says more than the choices can, or nothing',
  (cron) => expect(presetOf(cron)).toBeUndefined(),
);

test('an order is a verb and the name of what it is for', () => {
  const verbs = [{ label: 'Run now' }, { label: 'Pause' }, { label: 'Archive' }];
  const read = (text: string) => {
    const order = orderOf(text, verbs);
    return order === undefined ? undefined : [order.verbs.map(({ label }) => label), order.name];
  };
  expect(read('pause Harbour watch')).toEqual([['Pause'], 'harbour watch']);
  expect(read('run now harbour')).toEqual([['Run now'], 'harbour']);
  expect(read('run')).toEqual([['Run now'], '']);
  expect(read('pa harbour')).toBeUndefined();
  expect(read('harbour pause')).toBeUndefined();
});
