import { describe, expect, test } from 'vitest';
import { parseSchedule, readSchedulePhrase } from '#lib/schedule/index.ts';
import { PHRASES, REFUSED, WITHOUT_TIME } from './phrases.ts';

describe('words that say when to run', () => {
  test('the tables hold at least 150 phrases, and 50 that are refused', () => {
    expect(new Set(PHRASES.map(([phrase]) => phrase)).size).toBeGreaterThanOrEqual(150);
    expect(new Set(REFUSED.map(([phrase]) => phrase)).size).toBeGreaterThanOrEqual(50);
  });

  test.for(PHRASES)('"%s" is %s', ([phrase, schedule]) => {
    expect(readSchedulePhrase(phrase)).toMatchObject({ kind: 'read', schedule });
    parseSchedule(schedule);
  });

  test.for(REFUSED)('"%s" is refused, as it %s', ([phrase, why]) => {
    expect(readSchedulePhrase(phrase)).toMatchObject({ kind: 'refused', why: expect.stringContaining(why) });
  });

  test.for(WITHOUT_TIME)('"%s" says nothing of when', (sentence) => {
    expect(readSchedulePhrase(sentence)).toEqual({ kind: 'none' });
  });

  test('the words that were read are given back as they were written', () => {
    expect(readSchedulePhrase('Please check  our prices\nevery Monday  at 8, and mail me')).toMatchObject({
      phrase: 'every Monday at 8',
    });
  });

  test('a sentence of any length and any characters is read without delay', () => {
    for (const part of ['every ', 'at 9 and ', '1st and ', 'mon, ', 'ä', '𝟙 ', ': ', 'from 9 to ']) {
      expect(readSchedulePhrase(part.repeat(4_000 / part.length)).kind).toMatch(/none|refused/);
    }
  });
});
