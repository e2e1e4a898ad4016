import { expect, test } from 'vitest';
import { readFinish } from '#core/authoring/outcomes/finish.ts';

const NOW = new Date('2026-11-28T12:00:00Z');
const RULE = { outcomeRule: 'required', mayComplete: true, mayPutOffHours: 72 } as const;

function finish(more: object, rule: object = {}) {
  const call = { name: 'finish', invalid: false, input: { outcome: 'done', summary: 'All is there.', ...more } };
  return readFinish([call], { ...RULE, ...rule }, NOW);
}

test.for([
  ['2026-11-29T12:00:00Z', '2026-11-29T12:00:00.000Z'],
  ['2026-11-29T12:00+01:00', '2026-11-29T11:00:00.000Z'],
  ['2026-11-30T12:00:00.123456789Z', '2026-11-30T12:00:00.123Z'],
  ['2026-12-01T12:00:00Z', '2026-12-01T12:00:00.000Z'],
])('%s puts off the next run', ([nextNotBefore, notBefore = '']) => {
  expect(finish({ nextNotBefore })).toMatchObject({ next: { final: false, notBefore: new Date(notBefore) } });
});

test.for([
  '2026-11-31T12:00:00Z',
  '2026-11-29T24:30:00Z',
  '2026-11-29T12:00:00+99:99',
  '2026-11-29T12:00:00',
  '2026-11-29',
  '2026-12-01T12:00:01Z',
  '2026-11-28T12:00:00Z',
  '9999-12-31T23:59:59Z',
  '',
  1_764_417_600_000,
  [],
])('%j is no instant within the bounds', (nextNotBefore) => {
  expect(finish({ nextNotBefore })).toMatchObject({ kind: 'refused', why: expect.stringContaining('nextNotBefore') });
});

test('null means left out, also where the routine takes neither', () => {
  const nothing = { final: null, nextNotBefore: null };
  const rules = [{}, { mayComplete: false, mayPutOffHours: null }];
  for (const rule of rules) expect(finish(nothing, rule)).toMatchObject({ kind: 'stated', next: undefined });
  for (const final of ['true', 1, {}]) expect(finish({ final })).toMatchObject({ kind: 'refused' });
});
