import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eitherDayInWords, parseSchedule, scheduleInWords, ScheduleError } from '#lib/schedule/index.ts';

describe('a schedule in words', () => {
  test.for([
    ['0 9 1-7 * 1', 'On the 1st to 7th, and also every Monday, at 09:00'],
    ['0 14 */10 * 1-5', 'On the 1st, 11th, 21st and 31st, and also every weekday, at 14:00'],
    ['30 6 */2 * sun', 'On every 2nd day from the 1st, and also every Sunday, at 06:30'],
    ['0 9 L * 1#1', 'On the last day, and also on the first Monday of the month, at 09:00'],
    ['0 0 22-23,29 2 thu,5', 'On the 22nd, 23rd and 29th, and also every Thursday and Friday, at 00:00, in February'],
    ['0 9 15 6-8 5L', 'On the 15th, and also on the last Friday of the month, at 09:00, in June to August'],
    ['0 9 */1 * 1', 'Every day at 09:00'],
    ['0 9 12 * 0-6', 'Every day at 09:00'],
    ['0 9 ? * 1', 'Every Monday at 09:00'],
    ['0 9 1 * ?', 'On the 1st of the month at 09:00'],
    ['0 7 * * 1,3,5', 'Every Monday, Wednesday and Friday, at 07:00'],
    ['0 8 * * mon-thu', 'Every Monday to Thursday at 08:00'],
    ['0 0 * * 5#2', 'On the second Friday of the month at 00:00'],
    ['*/10 9-17 * * 1-5', 'Every 10 minutes from 09:00 to 17:59, every weekday'],
    ['15 9-17 1 * 1', 'Every hour from 09:15 to 17:15, on the 1st, and also every Monday'],
    ['0 */2 * * *', 'Every 2 hours'],
    ['5 * * * *', 'Every hour at :05'],
    ['*/7 * 3 * *', 'At :00, :07, :14, :21, :28, :35, :42, :49 and :56 of every hour, on the 3rd of the month'],
    ['* * * * *', 'Every minute'],
    ['@yearly', 'On the 1st of the month at 00:00, in January'],
    ['no schedule', 'no schedule'],
  ])('%s is "%s"', ([expression = '', words]) => {
    expect(scheduleInWords(expression)).toBe(words);
  });

  test('only two restricted day fields choose days each', () => {
    expect(eitherDayInWords('0 9 13 * 5')).toBe('on the 13th, and also every Friday');
    for (const plain of ['0 9 13 * *', '0 9 * * 5', '@weekly', '0 9 ? * 1-5', '*/5 * * * *']) {
      expect(eitherDayInWords(plain)).toBeUndefined();
    }
  });

  test('says something of every schedule that is accepted', () => {
    const field = (from: number, to: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.uniqueArray(fc.integer({ min: from, max: to }), { minLength: 1, maxLength: 12 }).map((list) => list.join()),
        fc.integer({ min: 1, max: to }).map((step) => `*/${step}`),
      );
    fc.assert(
      fc.property(fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)), (fields) => {
        const words = scheduleInWords(fields.join(' '));
        expect(words).toMatch(/^[A-Z]/);
        expect(words).not.toMatch(/undefined|NaN| ,| {2}|,,| $/);
      }),
    );
  });
});

function fault(expression: string): string {
  try {
    parseSchedule(expression);
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a schedule that would say something else', () => {
  test.for([
    ['*/90 * * * *', 'minute', 'cannot say every 90 minutes; the nearest is "0 */2 * * *", for every 2 hours.'],
    ['*/120 * * * *', 'minute', 'which has 60 values. Write "0 */2 * * *", for every 2 hours.'],
    ['0-59/61 * * * *', 'minute', 'larger than the range, which has 60 values. Write "0" for its first value alone.'],
    ['5/61 * * * *', 'minute', 'the nearest is "0 * * * *", for every hour.'],
    ['1,*/70 * * * *', 'minute', '"*/70"'],
    ['0 */25 * * *', 'hour', 'the nearest is "0 0 * * *", for every day.'],
    ['0 */48 * * *', 'hour', 'Write "0 0 */2 * *", for every 2 days.'],
    ['0 9-17/10 * * *', 'hour', 'which has 9 values. Write "9" for its first value alone.'],
    ['0 0 */62 * *', 'day-of-month', 'Write "0 0 1 */2 *", for every 2 months.'],
    ['0 0 1 */24 *', 'month', 'cannot say every 24 months'],
    ['0 0 * jan-mar/4 *', 'month', 'which has 3 values'],
    ['0 0 * * */14', 'day-of-week', 'the nearest is "@weekly", for every week.'],
    ['0 0 * * mon-fri/6', 'day-of-week', 'which has 5 values'],
    ['*/99999999999999999999 * * * *', 'minute', 'cannot say every 99999999999999999999 minutes'],
  ])('%s has a step that its %s field does not reach', ([expression = '', field, words]) => {
    expect(fault(expression)).toContain(`The ${field} field`);
    expect(fault(expression)).toContain(words);
  });

  test.for(['*/60 * * * *', '0 */24 * * *', '0 9-17/9 * * *', '0 0 */31 * *', '0 0 * * fri-sat/2', '59/60 * * * *'])(
    '%s is accepted: its step is as large as its field',
    (expression) => {
      expect(fault(expression)).toBe('accepted');
    },
  );

  test.for([
    ['TZ=Europe/Berlin 0 9 * * *', 'leave out TZ=Europe/Berlin, and set timezone to Europe/Berlin.'],
    ['CRON_TZ="America/New_York" 0 9 * * 1', 'and set timezone to America/New_York.'],
    ['tz=:UTC @daily', 'and set timezone to UTC.'],
    ['CRON_TZ= 0 9 * * *', 'leave out CRON_TZ=, and set the field timezone.'],
  ])('%s names a zone: %s', ([expression = '', words]) => {
    expect(fault(expression)).toContain('A schedule does not name its zone');
    expect(fault(expression)).toContain(words);
  });

  test.for([
    ['0 9 * * 1–5', 'replace "–" (U+2013) by "-"'],
    ['0 9 * * 1—5', 'replace "—" (U+2014) by "-"'],
    ['0 9 * * 1‑5', 'replace "‑" (U+2011) by "-"'],
    ['0 9 * * 1−5', 'replace "−" (U+2212) by "-"'],
    ['∗/15 * * * *', 'replace "∗" (U+2217) by "*"'],
    ['0 9 ＊ * *', 'replace "＊" (U+FF0A) by "*"'],
    ['*⁄15 * * * *', 'replace "⁄" (U+2044) by "/"'],
    ['0 9 * * 1、2', 'replace "、" (U+3001) by ","'],
    ['０ 9 * * *', 'replace "０" (U+FF10) by "0"'],
    ['0\u00a09 * * *', 'replace U+00A0 by a space'],
    ['\u200b0 9 * * *', 'take U+200B out'],
    ['0 9 * * ж', 'take "ж" (U+0436) out'],
    ['0 9 * * 😀', 'take "😀" (U+1F600) out'],
  ])('%j holds a character that is none of its own: %s', ([expression = '', words]) => {
    expect(fault(expression)).toBe(`A schedule is made of printable ASCII characters and spaces only: ${words}.`);
  });
});
