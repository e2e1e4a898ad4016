import { expect } from 'vitest';
import { nextTimeAfterSave } from '#core/foundation/timetable/timetable.ts';
import { readRoutine, type Routine } from '#core/authoring/routines/index.ts';
import { withoutJitter } from '#core/foundation/timetable/index.ts';
import { tick } from '#core/scheduling/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { activeRoutine, createRoutine, routineBody, runEnded } from '#test/support/routines.ts';
import { changeRoutines } from '#test/support/given.ts';

const test = serviceTest({ worker: true, own: true });

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
function at(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

test.for([
  ['an end before its start', { startsAt: at(2 * DAY), endsAt: at(DAY) }, 'endsAt: must be after startsAt'],
  ['an end that is over', { endsAt: at(-MINUTE) }, 'endsAt: must not be in the past'],
  ['a date that does not exist', { skipDates: ['2027-02-29'] }, 'skipDates'],
  ['a date with a time', { skipDates: ['2027-02-28T00:00:00Z'] }, 'skipDates'],
  ['the same date twice', { skipDates: ['2027-02-28', '2027-02-28'] }, 'the same date twice'],
  ['367 dates', { skipDates: Array.from({ length: 367 }, (_, day) => at(day * DAY).slice(0, 10)) }, 'skipDates'],
  [
    'more jitter than half its interval',
    { schedule: '0 */2 * * *', jitterSeconds: 3_601 },
    'jitterSeconds: at most half the shortest interval of the schedule, 3600 seconds',
  ],
  ['jitter below zero', { jitterSeconds: -1 }, 'jitterSeconds'],
  ['a start in another millennium', { startsAt: '9999-01-01T00:00:00Z' }, 'startsAt'],
] as const)('a routine with %s is 400', async ([, fields, message], { key }) => {
  const created = await key.post('/v1/routines', routineBody(fields));
  expect(created.status).toBe(400);
  expect(created.body.error.message).toContain(message);
  const id = await createRoutine(key);
  const patched = await key.patch(`/v1/routines/${id}`, fields);
  expect(patched.body.error).toEqual(created.body.error);
});

test('a schedule too short for the jitter that the routine has is 400, and the jitter stays', async ({ key }) => {
  const id = await createRoutine(key, { schedule: '@daily', jitterSeconds: 43_200 });
  const patched = await key.patch(`/v1/routines/${id}`, { schedule: '@hourly' });
  expect(patched.body.error.message).toContain('jitterSeconds: at most half');
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({
    schedule: '@daily',
    jitterSeconds: 43_200,
  });
});

test('the next five times keep to window, skipped dates and jitter', async ({ key }) => {
  const start = new Date(Math.ceil((Date.now() + 40 * DAY) / DAY) * DAY);
  const day = (days: number) => new Date(start.getTime() + days * DAY);
  const date = (days: number) => day(days).toISOString().slice(0, 10);
  const fields = {
    schedule: '0 0 * * *',
    startsAt: day(1).toISOString(),
    endsAt: day(6).toISOString(),
    skipDates: [date(4), date(2)],
  };
  const plain = (await key.get(`/v1/routines/${await createRoutine(key, fields)}`)).data;
  expect(plain.skipDates).toEqual([date(2), date(4)]);
  expect(plain.nextRuns).toEqual([1, 3, 5, 6].map((days) => day(days).toISOString()));
  const late = (await key.get(`/v1/routines/${await createRoutine(key, { ...fields, jitterSeconds: 20_000 })}`)).data;
  const delays = late.nextRuns.map((time: string, nth: number) => Date.parse(time) - Date.parse(plain.nextRuns[nth]));
  expect(new Set(delays).size).toBe(1);
  expect(delays[0]).toBeGreaterThanOrEqual(0);
  expect(delays[0]).toBeLessThanOrEqual(20_000_000);
});

test('a scheduled run with jitter stands for the time of the schedule', async ({ service, key, ada }) => {
  const { database } = service.deps;
  const id = await activeRoutine(key, { schedule: '@daily', jitterSeconds: 40_000 });
  const routine = await routineOf(service, ada, id);
  const occurrence = withoutJitter(routine, routine.nextRunAt!);
  expect(occurrence.toISOString()).toMatch(/T00:00:00\.000Z$/);
  const earlier = new Date(routine.nextRunAt!.getTime() - DAY);
  await changeRoutines(database, id, { nextRunAt: earlier });
  await tick(service.deps);
  const [run] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  // At any time of the day this is the latest occurrence whose jitter has passed.
  expect(run.scheduledFor).toMatch(/T00:00:00\.000Z$/);
  expect(Date.parse(run.scheduledFor)).toBeLessThanOrEqual(occurrence.getTime() - DAY);
  expect((await routineOf(service, ada, id)).nextRunAt).toEqual(routine.nextRunAt);
});

test('after endsAt a routine is paused, what was due still runs, and activating it needs another end', async ({
  service,
  key,
}) => {
  const { database, admission } = service.deps;
  const id = await activeRoutine(key, { schedule: '* * * * *', endsAt: at(DAY) });
  // The end of the window has passed, as after an outage that began before it.
  const end = new Date(Math.floor(Date.now() / MINUTE) * MINUTE - 10 * MINUTE);
  const due = new Date(end.getTime() - 2 * MINUTE);
  await changeRoutines(database, id, { endsAt: end, nextRunAt: due });
  // One tick finds that the window is over, and queues the last run.
  await tick(service.deps);
  await tick(service.deps);
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({
    state: 'paused',
    stateReason: 'schedule_ended',
    nextRunAt: null,
    nextRuns: [],
    activation: { ready: false, reason: 'schedule_ended' },
  });
  await admission.admit();
  const runs = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  expect(runs).toMatchObject([
    { scheduledFor: end.toISOString() },
    { state: 'skipped', reason: 'misfire', skipped: { count: 2 } },
  ]);
  expect(await runEnded(key, runs[0].id)).toMatchObject({ state: 'succeeded' });

  const refused = await key.post(`/v1/routines/${id}/activate`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'schedule_ended']);
  expect(refused.body.error.message).toContain(end.toISOString());
  // The name can still be changed, and the same end is no change.
  const renamed = await key.patch(`/v1/routines/${id}`, {
    name: 'Over',
    endsAt: end.toISOString(),
  });
  expect(renamed.status).toBe(200);
  await key.patch(`/v1/routines/${id}`, { endsAt: null });
  const active = await key.post(`/v1/routines/${id}/activate`);
  expect(active.data).toMatchObject({
    state: 'active',
    stateReason: null,
    nextRunAt: expect.any(String),
  });
});

test('between its last time and its end a routine is active without a next time', async ({ service, key }) => {
  const id = await activeRoutine(key, { schedule: '@yearly', endsAt: at(40 * DAY + 366 * DAY) });
  const patched = await key.patch(`/v1/routines/${id}`, { startsAt: at(-DAY), endsAt: at(MINUTE) });
  const expected = { state: 'active', nextRunAt: null };
  expect(patched.data).toMatchObject(expected);
  await tick(service.deps);
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject(expected);
  // A later end on an active routine needs no activation.
  const { data } = await key.patch(`/v1/routines/${id}`, { endsAt: null });
  expect(data).toMatchObject({ state: 'active', nextRunAt: expect.stringMatching(/-01-01T00:00/) });
});

test('an occurrence that is due, or waits for its jitter, survives every change of the times', async ({
  service,
  key,
  ada,
}) => {
  const id = await createRoutine(key, { schedule: '0 0 * * *', jitterSeconds: 40_000 });
  const draft = await routineOf(service, ada, id);
  const midnight = new Date('2027-03-03T00:00:00Z');
  const delay = midnight.getTime() - withoutJitter(draft, midnight).getTime();
  const nextRunAt = new Date(midnight.getTime() + delay);
  const before: Routine = { ...draft, state: 'active', nextRunAt };
  const waiting = new Date(nextRunAt.getTime() - 1);
  const overdue = new Date(nextRunAt.getTime() + MINUTE);
  const none = { ...before, jitterSeconds: 0 };
  const renamed = { ...before, name: 'Another' };
  // Without jitter the occurrence is due at once, and a change of schedule keeps a due occurrence.
  expect(nextTimeAfterSave(before, none, waiting)).toEqual(midnight);
  expect(nextTimeAfterSave(before, { ...none, schedule: '0 5 * * *' }, overdue)).toEqual(midnight);
  expect(nextTimeAfterSave(before, { ...before, schedule: '0 5 * * *' }, overdue)).toEqual(nextRunAt);
  // An occurrence that ran without jitter does not run again with jitter.
  const ran = { ...none, nextRunAt: new Date('2027-03-04T00:00:00Z') };
  expect(nextTimeAfterSave(ran, before, new Date('2027-03-03T00:00:30Z'))).toEqual(
    new Date(Date.parse('2027-03-04T00:00:00Z') + delay),
  );
  expect(nextTimeAfterSave(before, renamed, overdue)).toEqual(nextRunAt);
});

test('a preview shows the next times of a schedule, or the errors of saving it', async ({ key }) => {
  const query = 'schedule=0%209%20*%20*%201&timezone=Europe/Berlin&startsAt=2027-03-20T00:00:00Z';
  const shown = await key.get(
    `/v1/schedules/preview?${query}&skipDates=2027-04-05,2027-03-22&endsAt=2027-04-20T00:00:00%2B02:00&jitterSeconds=60`,
  );
  // The clock of Berlin changes between the two times.
  expect(shown.data).toEqual({
    schedule: '0 9 * * 1',
    inWords: 'Every Monday at 09:00',
    warnings: [],
    times: ['2027-03-29T07:00:00.000Z', '2027-04-12T07:00:00.000Z', '2027-04-19T07:00:00.000Z'],
    jitterSeconds: 60,
  });
  for (const [wrong, code] of [
    ['schedule=61%20*%20*%20*%20*', 'invalid_schedule'],
    ['schedule=@daily&timezone=Mars/Olympus', 'invalid_timezone'],
    ['schedule=@daily&jitterSeconds=43201', 'invalid_request'],
    ['schedule=@daily&skipDates=tomorrow', 'invalid_request'],
    ['schedule=@daily&endsAt=2026-01-02T00:00:00Z', 'invalid_request'],
    ['schedule=*/90%20*%20*%20*%20*', 'invalid_schedule'],
    ['schedule=TZ=UTC%200%209%20*%20*%20*', 'invalid_schedule'],
    ['timezone=UTC', 'invalid_request'],
  ]) {
    const refused = await key.get(`/v1/schedules/preview?${wrong}`);
    expect([refused.status, refused.body.error.code]).toEqual([400, code]);
  }
});

test('a preview reads words of time, and says what is wrong with those that have two readings', async ({ key }) => {
  const preview = (query: Record<string, string>) =>
    key.get(`/v1/schedules/preview?${new URLSearchParams(query).toString()}`);
  const read = await preview({ words: 'on the last Friday of the month at 16:00', timezone: 'Europe/Berlin' });
  expect(read.data).toMatchObject({ schedule: '0 16 * * 5L', warnings: [] });
  expect(read.data.times).toHaveLength(5);
  for (const [words, why] of [
    ['every other Tuesday at 9', 'is counted from a day'],
    ['every day at 5', 'am or pm'],
    ['as you like', 'no time in these words'],
  ] as const) {
    const refused = await preview({ words });
    expect([words, refused.status, refused.body.error.code]).toEqual([words, 400, 'invalid_schedule']);
    expect(refused.body.error.message).toContain(why);
  }
  expect((await preview({ words: 'daily at 9:00', schedule: '@daily' })).status).toBe(400);
});

test('an end that saving refuses is refused by the preview in the same words', async ({ key }) => {
  const ends = { schedule: '@daily', endsAt: at(-MINUTE) };
  const saved = await key.post('/v1/routines', routineBody(ends));
  const shown = await key.get(`/v1/schedules/preview?${new URLSearchParams(ends).toString()}`);
  expect([shown.status, shown.body.error.message]).toEqual([400, saved.body.error.message]);
  expect(shown.body.error.message).toContain('endsAt: must not be in the past');
});

const EITHER = 'On the 22nd to 24th, and also every Friday, at 06:30';

test('where either day is enough, preview, save and reading say so, and others are not warned', async ({ key }) => {
  const schedule = '30 6 22-24 * fri';
  const warned = [
    { code: 'either_day', message: expect.stringContaining('on the 22nd to 24th, and also every Friday:') },
  ];
  const query = new URLSearchParams({ schedule }).toString();
  const preview = await key.get(`/v1/schedules/preview?${query}`);
  expect(preview.data).toMatchObject({ inWords: EITHER, warnings: warned });
  const created = await key.post('/v1/routines', routineBody({ schedule }));
  expect(created.data).toMatchObject({ scheduleInWords: EITHER, warnings: warned });
  const { id } = created.data;
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({ scheduleInWords: EITHER, warnings: warned });
  const { data: list } = await key.get('/v1/routines?limit=100');
  expect(list.find((each: { id: string }) => each.id === id).scheduleInWords).toBe(EITHER);
  const patched = await key.patch(`/v1/routines/${id}`, { schedule: '30 6 * * fri' });
  expect(patched.data).toMatchObject({ scheduleInWords: 'Every Friday at 06:30', warnings: [] });
});

test.for([
  ['between two times', { schedule: '@yearly', startsAt: '2031-02-01T00:00:00Z', endsAt: '2031-11-30T00:00:00Z' }],
  [
    'of skipped dates alone',
    {
      schedule: '0 9 * * 1',
      endsAt: '2031-03-04T00:00:00Z',
      startsAt: '2031-03-01T00:00:00Z',
      skipDates: ['2031-03-03'],
    },
  ],
  [
    'of a minute',
    { schedule: '0 9 * * *', timezone: 'Asia/Tokyo', startsAt: '2031-03-03T09:00:00Z', endsAt: '2031-03-03T09:01:00Z' },
  ],
] as const)('a window %s without any time is warned of, and saved', async ([, fields], { key }) => {
  const warned = [{ code: 'no_time_in_window', message: expect.stringContaining('starts no run') }];
  const created = await key.post('/v1/routines', routineBody(fields));
  expect(created.status).toBe(201);
  expect(created.data.warnings).toEqual(warned);
  const query = new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  expect((await key.get(`/v1/schedules/preview?${query}`)).data).toMatchObject({ times: [], warnings: warned });
  const wider = await key.patch(`/v1/routines/${created.data.id}`, { endsAt: '2033-01-02T00:00:00Z' });
  expect(wider.data.warnings.map(({ code }: { code: string }) => code)).not.toContain('no_time_in_window');
});

test('a schedule that was accepted before a rule was keeps the routine from no other change', async ({
  service,
  key,
}) => {
  const id = await createRoutine(key);
  await changeRoutines(service.deps.database, id, { schedule: '*/90 * * * *' });
  const renamed = await key.patch(`/v1/routines/${id}`, { name: 'Renamed' });
  expect(renamed.data).toMatchObject({ name: 'Renamed', scheduleInWords: 'Every hour' });
  const again = await key.patch(`/v1/routines/${id}`, { schedule: '*/91 * * * *' });
  expect([again.status, again.body.error.code]).toEqual([400, 'invalid_schedule']);
});

test('the times of all active routines of a project come in order, with window, skipped dates and jitter', async ({
  service,
  key: strangersKey,
  bobsKey: key,
}) => {
  const day = new Date(Math.ceil(Date.now() / DAY) * DAY + 5 * DAY);
  const hour = (hours: number) => new Date(day.getTime() + hours * 60 * MINUTE).toISOString();
  const late = await activeRoutine(key, {
    name: 'Late',
    schedule: '0 */6 * * *',
    jitterSeconds: 5_000,
    startsAt: hour(1),
  });
  const plain = await activeRoutine(key, {
    name: 'Plain',
    schedule: '30 6 * * *',
    skipDates: [hour(24).slice(0, 10)],
  });
  await createRoutine(key, { schedule: '* * * * *' });
  const path = (from: string, to: string) => `/v1/schedules/occurrences?from=${from}&to=${to}`;
  const { data } = await key.get(path(hour(-12), hour(36)));
  const mine = data.occurrences.filter(({ routineId }: { routineId: string }) => [late, plain].includes(routineId));
  const { nextRuns } = (await key.get(`/v1/routines/${late}`)).data;
  const delay = Date.parse(nextRuns[0]) % (6 * 60 * MINUTE);
  const startOf = (hours: number) => new Date(Date.parse(hour(hours)) + delay).toISOString();
  const expected = [
    { routineId: plain, routineName: 'Plain', scheduledFor: hour(6.5), startsAt: hour(6.5) },
    ...[6, 12, 18, 24, 30, 36].map((hours) => ({
      routineId: late,
      routineName: 'Late',
      scheduledFor: hour(hours),
      startsAt: startOf(hours),
    })),
  ].filter(({ startsAt }) => startsAt <= hour(36));
  const byStart = (a: { startsAt: string }, b: { startsAt: string }) => (a.startsAt < b.startsAt ? -1 : 1);
  expect(mine.filter(({ scheduledFor }: { scheduledFor: string }) => scheduledFor >= hour(0))).toEqual(
    expected.toSorted(byStart),
  );
  expect(data.truncated).toBe(false);
  const theirs = (await strangersKey.get(path(hour(-12), hour(36)))).data.occurrences;
  expect(theirs.map(({ routineId }: { routineId: string }) => routineId)).not.toContain(plain);
  expect((await key.get(path(hour(0), hour(43 * 24)))).status).toBe(400);
  expect((await key.get(path(hour(2), hour(1)))).status).toBe(400);
  await changeRoutines(service.deps.database, plain, { schedule: '* * * * *' });
  const all = (await key.get(path(hour(0), hour(31 * 24)))).data;
  expect([all.occurrences.length, all.truncated]).toEqual([2_000, true]);
});

/** The routine as the product sees it. */
function routineOf({ deps }: Service, { projectId }: Person, id: string): Promise<Routine> {
  return readRoutine(deps.database, projectId, id);
}
