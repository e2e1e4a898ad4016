import { expect, test } from 'vitest';
import { correctionMs } from '#lib/database/clock.ts';

const HOUR_MS = 3_600_000;

test.each([
  ['an hour fast is corrected', { aheadMs: HOUR_MS, tookMs: 4, wasWrong: false }, HOUR_MS],
  ['an hour slow is corrected', { aheadMs: -HOUR_MS, tookMs: 4, wasWrong: false }, -HOUR_MS],
  ['near that of Postgres is left', { aheadMs: 2_900, tookMs: 4, wasWrong: false }, 0],
  ['right again is no longer corrected', { aheadMs: 20, tookMs: 4, wasWrong: true }, 0],
  [
    'an hour fast is corrected, also where the connection opens slowly',
    { aheadMs: HOUR_MS, tookMs: 5_000, wasWrong: false },
    HOUR_MS,
  ],
  ['off by less than a slow response explains is left', { aheadMs: 5_000, tookMs: 5_000, wasWrong: false }, undefined],
  ['corrected already stays so after a slow response', { aheadMs: HOUR_MS, tookMs: 5_000, wasWrong: true }, undefined],
])('a clock that is %s', (_name, measured, corrected) => {
  expect(correctionMs(measured)).toBe(corrected);
});
