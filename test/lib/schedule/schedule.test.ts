import { describe, expect, test } from 'vitest';
import {
  ScheduleError,
  isTimeZone,
  nextOccurrence,
  nextOccurrences,
  occurrencesBetween,
  parseSchedule,
  parseStoredSchedule,
} from '#lib/schedule/index.ts';

/** Returns the next `count` occurrences on the zone's wall clock, with the offset. */
function next(expression: string, timeZone: string, after: string, count = 1): string[] {
  const show = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const schedule = parseStoredSchedule(expression);
  return nextOccurrences(schedule, timeZone, new Date(after), count).map((date) => show.format(date));
}

function instants(expression: string, timeZone: string, after: string, count: number): string[] {
  const schedule = parseStoredSchedule(expression);
  return nextOccurrences(schedule, timeZone, new Date(after), count).map((date) => date.toISOString().slice(0, 16));
}

function fault(expression: string, now?: Date): string {
  try {
    parseSchedule(expression, now);
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('reading a schedule', () => {
  test.each([
    ['0 9 * * MON-FRI', '0 9 * * 1-5'],
    ['0 9 1 jan,Jul *', '0 9 1 1,7 *'],
    ['0 9 * * 7', '0 9 * * 0'],
    ['0 9 * * sun', '0 9 * * 0'],
    ['0 9 * * 5-7', '0 9 * * 0,5,6'],
    ['5/20 * * * *', '5,25,45 * * * *'],
    ['10-30/10 9-17/4 * * *', '10,20,30 9,13,17 * * *'],
    ['0 9 ? * 1', '0 9 * * 1'],
    ['  0   9 * * *  ', '0 9 * * *'],
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
  ])('reads %s as %s', (one, other) => {
    const after = '2026-03-04T05:06:07Z';
    expect(instants(one, 'UTC', after, 40)).toEqual(instants(other, 'UTC', after, 40));
  });

  test('takes a day that matches either day field when both are restricted', () => {
    expect(next('0 0 13 * 5', 'UTC', '2026-03-01T00:00Z', 6)).toEqual([
      '2026-03-06 00:00',
      '2026-03-13 00:00',
      '2026-03-20 00:00',
      '2026-03-27 00:00',
      '2026-04-03 00:00',
      '2026-04-10 00:00',
    ]);
    expect(next('0 0 29 2 1', 'UTC', '2027-02-20T00:00Z', 3)).toEqual([
      '2027-02-22 00:00',
      '2028-02-07 00:00',
      '2028-02-14 00:00',
    ]);
  });

  test('knows the last day, the last weekday and the nth weekday of a month', () => {
    expect(next('0 0 L * *', 'UTC', '2028-01-31T00:00Z', 2)).toEqual(['2028-02-29 00:00', '2028-03-31 00:00']);
    expect(next('0 0 * * 5L', 'UTC', '2026-01-01T00:00Z', 2)).toEqual(['2026-01-30 00:00', '2026-02-27 00:00']);
    expect(next('0 0 * * 5#2', 'UTC', '2026-01-01T00:00Z', 2)).toEqual(['2026-01-09 00:00', '2026-02-13 00:00']);
    expect(next('0 0 * * sun#5', 'UTC', '2026-01-01T00:00Z', 2)).toEqual(['2026-03-29 00:00', '2026-05-31 00:00']);
  });

  test.each([
    ['', 'The schedule is empty: expected five fields'],
    ['   ', 'The schedule is empty: expected five fields'],
    ['* * * *', 'The schedule has 4 field(s): expected five fields'],
    ['0 0 9 * * *', 'The schedule has 6 field(s): expected five fields'],
    ['0 0 9 * * *', 'a seconds field is not supported'],
    ['0 9 * * * * *', 'The schedule has 7 field(s)'],
    ['@reboot', '"@reboot" is not a schedule: expected one of @hourly'],
    ['@minutely', '"@minutely" is not a schedule'],
    ['@secondly', '"@secondly" is not a schedule'],
    ['@Daily', '"@Daily" is not a schedule'],
    ['@daily @daily', '"@daily @daily" is not a schedule'],
    ['H * * * *', 'The minute field "H" is not understood.'],
    ['0 H(1-5) * * *', 'The hour field "H(1-5)" is not understood.'],
    ['0 0 * * H', 'The day-of-week field "H" is not understood.'],
    ['? * * * *', 'The minute field "?" is not understood.'],
    ['0 0 1,? * *', 'The day-of-month field "1,?" is not understood.'],
    ['60 * * * *', 'The minute field "60" is not valid: got value 60 expected range 0-59.'],
    ['0 24 * * *', 'The hour field "24" is not valid: got value 24 expected range 0-23.'],
    ['0 0 0 * *', 'The day-of-month field "0" is not valid'],
    ['0 0 1 13 *', 'The month field "13" is not valid'],
    ['0 0 * * 8', 'The day-of-week field "8" is not valid'],
    ['0 0 * * 5-1', 'The day-of-week field "5-1" is not valid: Invalid range'],
    ['*/0 * * * *', 'The minute field "*/0" is not valid: cannot repeat at every 0 time.'],
    ['0,0 * * * *', 'The minute field "0,0" is not valid: duplicate values found: 0.'],
    ['-1 * * * *', 'The minute field "-1" is not understood.'],
    ['1.5 * * * *', 'The minute field "1.5" is not understood.'],
    ['0 0 * foo *', 'The month field "foo" is not understood.'],
    ['0 0 1 jan2 *', 'The month field "jan2" is not understood.'],
    ['0 0 1 janfeb *', 'The month field "janfeb" is not understood.'],
    ['0 0 * * 5#6', 'The day-of-week field "5#6" is not understood.'],
    ['0 0 * * 5#2.5', 'The day-of-week field "5#2.5" is not understood.'],
    ['0 0 * * 1,5#2', 'The day-of-week field "1,5#2" is not understood.'],
    ['0 0 * * L', 'The day-of-week field "L" is not understood.'],
    ['0 0 15W * *', 'The day-of-month field "15W" is not understood.'],
    ['0 9\t* * *', 'A schedule is made of printable ASCII characters'],
    ['0 9 * * *\n', 'A schedule is made of printable ASCII characters'],
    ['0 9 * *\u00a0*', 'A schedule is made of printable ASCII characters'],
    [`${'0,'.repeat(150)}0 * * * *`, 'A schedule has at most 200 characters.'],
  ])('refuses %j and says why', (expression, message) => {
    expect(fault(expression)).toContain(message);
    expect(fault(expression)).toMatch(/[^.]\.$/);
  });

  test('refuses a date that no year has', () => {
    expect(fault('0 0 30 2 *')).toBe('The schedule never fires: no month of "2" has a day "30".');
    expect(fault('0 0 31 2,4,6,9,11 *')).toContain('The schedule never fires');
    expect(fault('0 0 31 2 1')).toBe('accepted');
  });

  test('refuses a schedule that fires next more than eight years ahead', () => {
    const now = new Date('2026-03-01T00:00Z');
    expect(fault('0 0 * 2 1#5', now)).toBe('The schedule does not fire in the next 8 years.');
    expect(fault('0 0 * 2 1#5', new Date('2040-03-01T00:00Z'))).toBe('accepted');
    for (const year of [2026, 2095, 2096, 2097]) {
      expect(fault('0 0 29 2 *', new Date(Date.UTC(year, 1, 29, 0, 0)))).toBe('accepted');
    }
  });

  test('still reads a stored schedule that would no longer be accepted', () => {
    expect(next('0 0 * 2 1#5', 'Europe/Paris', '2044-03-01T00:00Z', 2)).toEqual([
      '2072-02-29 00:00',
      '2112-02-29 00:00',
    ]);
  });
});

describe('the next occurrence', () => {
  test('is strictly after the instant asked for', () => {
    const schedule = parseSchedule('0 9 * * *');
    const at = (after: string): string => nextOccurrence(schedule, 'UTC', new Date(after)).toISOString();
    expect(at('2026-01-01T08:59:59.999Z')).toBe('2026-01-01T09:00:00.000Z');
    expect(at('2026-01-01T09:00:00.000Z')).toBe('2026-01-02T09:00:00.000Z');
    expect(at('2026-01-01T09:00:00.001Z')).toBe('2026-01-02T09:00:00.000Z');
  });

  test('goes from leap day to leap day, over a year like 2100 too', () => {
    expect(next('0 0 29 2 *', 'Asia/Tokyo', '2026-01-01T00:00Z', 2)).toEqual(['2028-02-29 00:00', '2032-02-29 00:00']);
    expect(next('0 0 29 2 *', 'Asia/Tokyo', '2096-03-01T00:00Z')).toEqual(['2104-02-29 00:00']);
  });

  test('refuses an invalid date and an unknown zone', () => {
    const schedule = parseSchedule('@daily');
    expect(() => nextOccurrence(schedule, 'UTC', new Date(Number.NaN))).toThrow(RangeError);
    expect(() => nextOccurrence(schedule, 'Mars/Base', new Date())).toThrow(RangeError);
  });
});

describe('when the clock goes forward', () => {
  test('a time that does not exist fires at the first instant after the gap', () => {
    expect(next('30 2 * * *', 'America/New_York', '2026-03-07T00:00Z', 3)).toEqual([
      '2026-03-07 02:30',
      '2026-03-08 03:00',
      '2026-03-09 02:30',
    ]);
    expect(next('30 2 * * *', 'Australia/Sydney', '2026-10-03T00:00Z', 2)).toEqual([
      '2026-10-04 03:00',
      '2026-10-05 02:30',
    ]);
  });

  test('several such times fire once, together with one that is due by itself', () => {
    expect(next('*/5 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29 03:00',
      '2026-03-30 02:00',
    ]);
    expect(next('0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29 03:00',
      '2026-03-30 02:00',
    ]);
    expect(next('0 */2 * * *', 'Europe/Berlin', '2026-03-28T23:30Z', 2)).toEqual([
      '2026-03-29 03:00',
      '2026-03-29 04:00',
    ]);
  });

  test('a schedule of every hour goes on without an extra run', () => {
    for (const expression of ['*/15 * * * *', '0,15,30,45 0-23 * * *']) {
      expect(next(expression, 'Europe/Berlin', '2026-03-29T00:40Z', 3)).toEqual([
        '2026-03-29 01:45',
        '2026-03-29 03:00',
        '2026-03-29 03:15',
      ]);
    }
    expect(next('7 * * * *', 'Europe/Berlin', '2026-03-29T00:00Z', 2)).toEqual([
      '2026-03-29 01:07',
      '2026-03-29 03:07',
    ]);
  });

  test('a gap at midnight moves the daily run to one o’clock of the same day', () => {
    expect(next('@daily', 'America/Havana', '2024-03-09T12:00Z', 2)).toEqual(['2024-03-10 01:00', '2024-03-11 00:00']);
    expect(next('@daily', 'Asia/Beirut', '2024-03-30T12:00Z')).toEqual(['2024-03-31 01:00']);
    expect(next('@daily', 'America/Sao_Paulo', '2018-11-03T12:00Z')).toEqual(['2018-11-04 01:00']);
  });

  test('a gap of half an hour is no longer than that', () => {
    expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00Z')).toEqual(['2026-10-04 02:30']);
    expect(next('45 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00Z')).toEqual(['2026-10-04 02:45']);
  });

  test('a date that was skipped is made up for at the start of the next', () => {
    expect(next('0 9 * * *', 'Pacific/Apia', '2011-12-29T12:00Z', 3)).toEqual([
      '2011-12-29 09:00',
      '2011-12-31 00:00',
      '2011-12-31 09:00',
    ]);
    expect(next('*/5 * 30 12 *', 'Pacific/Apia', '2011-12-29T12:00Z', 2)).toEqual([
      '2011-12-31 00:00',
      '2012-12-30 00:00',
    ]);
  });
});

describe('when the clock goes back', () => {
  test('a time that occurs twice fires the first time only', () => {
    expect(instants('30 1-3 * * *', 'America/New_York', '2026-11-01T04:40Z', 4)).toEqual([
      '2026-11-01T05:30',
      '2026-11-01T07:30',
      '2026-11-01T08:30',
      '2026-11-02T06:30',
    ]);
  });

  test('and not again when asked from within the second hour', () => {
    expect(instants('30 1 * * *', 'America/New_York', '2026-11-01T06:10Z', 1)).toEqual(['2026-11-02T06:30']);
  });

  test('a wildcard or a step in minute or hour fires both times', () => {
    const after = '2026-11-01T05:20Z';
    expect(instants('0 * * * *', 'America/New_York', after, 2)).toEqual(['2026-11-01T06:00', '2026-11-01T07:00']);
    expect(instants('*/30 1 * * *', 'America/New_York', after, 4)).toEqual([
      '2026-11-01T05:30',
      '2026-11-01T06:00',
      '2026-11-01T06:30',
      '2026-11-02T06:00',
    ]);
    expect(instants('0,30 1 * * *', 'America/New_York', after, 2)).toEqual(['2026-11-01T05:30', '2026-11-02T06:00']);
  });

  test('the day after a midnight that occurs twice begins once', () => {
    expect(instants('@daily', 'America/Havana', '2024-11-02T12:00Z', 2)).toEqual([
      '2024-11-03T04:00',
      '2024-11-04T05:00',
    ]);
  });

  test('half an hour repeats in Lord Howe', () => {
    expect(instants('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', 2)).toEqual([
      '2026-04-04T14:45',
      '2026-04-05T15:15',
    ]);
  });
});

describe('an offset with seconds', () => {
  test('fires at the whole UTC minute that the clock reads', () => {
    // Monrovia was 44 minutes 30 seconds behind until 1972.
    expect(instants('0 12 * * *', 'Africa/Monrovia', '1971-01-01T00:00Z', 1)).toEqual(['1971-01-01T12:45']);
  });
});

describe('counting occurrences', () => {
  const minutely = parseSchedule('* * * * *');

  test('leaves out the start and includes the end', () => {
    const schedule = parseSchedule('0 9 * * *');
    const [after, until] = [new Date('2026-01-01T09:00Z'), new Date('2026-01-04T09:00Z')];
    expect(occurrencesBetween(schedule, 'UTC', after, until, 100)).toEqual({
      count: 3,
      first: new Date('2026-01-02T09:00Z'),
      last: until,
      truncated: false,
    });
    expect(occurrencesBetween(schedule, 'UTC', after, new Date('2026-01-02T08:59Z'), 100)).toEqual({
      count: 0,
      first: undefined,
      last: undefined,
      truncated: false,
    });
  });

  test('an outage of three days on a minutely schedule is counted in full', () => {
    const [after, until] = [new Date('2026-03-27T00:00Z'), new Date('2026-03-30T00:00:30Z')];
    expect(occurrencesBetween(minutely, 'Europe/Berlin', after, until, 10_000)).toEqual({
      count: 4320,
      first: new Date('2026-03-27T00:01Z'),
      last: new Date('2026-03-30T00:00Z'),
      truncated: false,
    });
  });

  test('a longer one stops at the cap and still says from when to when', () => {
    const [after, until] = [new Date('2025-01-01T00:00Z'), new Date('2026-01-01T00:00Z')];
    expect(occurrencesBetween(minutely, 'Europe/Berlin', after, until, 10_000)).toEqual({
      count: 10_000,
      first: new Date('2025-01-01T00:01Z'),
      last: until,
      truncated: true,
    });
    const mornings = parseSchedule('* 9 * 1 *');
    expect(occurrencesBetween(mornings, 'UTC', after, until, 60)).toEqual({
      count: 60,
      first: new Date('2025-01-01T09:00Z'),
      last: new Date('2025-01-31T09:59Z'),
      truncated: true,
    });
  });

  test('a cap of none is refused', () => {
    const now = new Date();
    expect(() => occurrencesBetween(minutely, 'UTC', now, now, 0)).toThrow(RangeError);
  });
});

describe('time zones', () => {
  test('accepts every zone that Intl lists', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) expect(isTimeZone(zone), zone).toBe(true);
  });

  test.each(['UTC', 'GMT', 'EST', 'Etc/GMT+5', 'Asia/Kolkata', 'Europe/Kyiv', 'US/Eastern', 'Japan'])(
    'accepts %s',
    (zone) => {
      expect(isTimeZone(zone)).toBe(true);
    },
  );

  test.each(['', ' ', 'Z', '+02:00', '-0500', '+02', 'UTC+2', 'GMT+2', 'Mars/Base', 'Europe/Berlin '])(
    'refuses %j',
    (zone) => {
      expect(isTimeZone(zone)).toBe(false);
    },
  );

  test.each(['BST', 'IST', 'CST', 'PST', 'AST', 'ist', 'SystemV/EST5'])(
    'refuses %s, which only ICU knows and few would read as it does',
    (zone) => {
      expect(isTimeZone(zone)).toBe(false);
    },
  );
});
