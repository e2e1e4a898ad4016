import { expect } from 'vitest';
import { AT_ONCE, sql } from '#lib/database/index.ts';
import { jitterMs } from '#lib/schedule/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import {
  ago,
  changeIdempotencyKeys,
  changePeriodRuns,
  changeRoutines,
  fallDue,
  plantRun,
  plantRuns,
  plantSkipped,
  removeRuns,
} from '#test/support/given.ts';

const test = serviceTest({ worker: true, env: { RUN_DAYS: '1000', RUN_CONTENT_DAYS: '1000' } });

const DAY_MS = 86_400_000;

/** Returns midnight UTC of a day in the past. */
function daysAgo(days: number): Date {
  return new Date((Math.floor(Date.now() / DAY_MS) - days) * DAY_MS);
}

/** Returns seven o'clock UTC of each of these days, at which the routines of the tests are due. */
function sevenOf(...days: number[]): string[] {
  return days.map((ago) => new Date(daysAgo(ago).getTime() + 7 * 3_600_000).toISOString());
}

function lastDays(from: number, to: number) {
  return { from: daysAgo(from).toISOString(), to: daysAgo(to).toISOString() };
}

function accepted(key: ApiClient, id: string, body: Record<string, unknown>) {
  return key.post(`/v1/routines/${id}/backfill`, { acceptForecast: true, ...body });
}

function instantsOf(runs: { scheduledFor: string }[]): string[] {
  return runs.map(({ scheduledFor }) => scheduledFor);
}

test('a backfill is refused with its price until that is accepted, and then runs each past time of the schedule once', async ({
  service,
  ada,
  key,
}) => {
  service.gateway.control.script({
    times: null,
    behaviour: { kind: 'usage', usage: { prompt_tokens: 600, completion_tokens: 400 } },
  });
  const id = await activeRoutine(key, { instructions: 'Report as of {{scheduledFor}}.' });
  const window = lastDays(5, 2);
  const refused = await key.post(`/v1/routines/${id}/backfill`, window);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'forecast_not_accepted']);
  // A run uses 1,000 tokens and costs 0.00033 US dollars.
  expect(refused.body.error.message).toContain('3 runs');
  expect(refused.body.error.message).toContain('3000 tokens and 0.00099 US dollars (p50)');
  expect((await key.get(`/v1/runs?trigger=backfill&limit=1`)).data).toEqual([]);

  const { status, data } = await accepted(key, id, window);
  expect(status).toBe(202);
  expect(instantsOf(data.runs)).toEqual(sevenOf(5, 4, 3));
  expect(data).toMatchObject({
    routineId: id,
    routineRevision: 1,
    leftOut: { alreadyRan: 0, alreadyBackfilled: 0, stillDue: 0 },
    nextFrom: null,
  });
  for (const { id: runId, scheduledFor } of data.runs) {
    const ended = await runEnded(key, runId);
    expect(ended).toMatchObject({
      state: 'succeeded',
      trigger: 'backfill',
      scheduledFor,
      backfillId: data.id,
      prompt: `Report as of ${scheduledFor}.`,
    });
  }
  service.gateway.control.reset();
  const listed = (await key.get(`/v1/runs?backfillId=${data.id}`)).data;
  expect(instantsOf(listed)).toEqual(sevenOf(3, 4, 5));

  const events = (await ada.session.get(`/v1/audit-events?organizationId=${ada.organizationId}`)).data;
  expect(events[0]).toMatchObject({
    action: 'routine.backfilled',
    targetId: id,
    details: { backfillId: data.id, runs: 3 },
  });

  const again = await accepted(key, id, lastDays(6, 2));
  expect(instantsOf(again.data.runs)).toEqual(sevenOf(6));
  expect(again.data.leftOut).toEqual({ alreadyRan: 0, alreadyBackfilled: 3, stillDue: 0 });
  // Every occurrence of the period has a run, so the request makes none.
  const nothing = await key.post(`/v1/routines/${id}/backfill`, lastDays(6, 2));
  expect([nothing.status, nothing.data.runs]).toEqual([202, []]);
});

test('what a backfill would be is said beforehand, by the same refusals, and nothing is made', async ({
  service,
  key,
  bobsKey,
}) => {
  service.gateway.control.script({
    times: null,
    behaviour: { kind: 'usage', usage: { prompt_tokens: 600, completion_tokens: 400 } },
  });
  const id = await activeRoutine(key);
  service.gateway.control.reset();
  const ofDays = (from: number, to: number) =>
    `/v1/routines/${id}/backfill/forecast?${new URLSearchParams(lastDays(from, to)).toString()}`;
  const forecast = await key.get(`${ofDays(5, 2)}&max=2`);
  const [first, second, third] = sevenOf(5, 4, 3);
  const amount = { tokens: 2_000, costUsd: '0.00066' };
  expect(forecast.status).toBe(200);
  expect(forecast.data).toMatchObject({
    routineId: id,
    revision: 1,
    occurrences: { count: 2, first, last: second },
    perRun: { basis: 'proof_run', sampleSize: 1 },
    total: { p50: amount, p95: amount },
    limits: [{ scope: 'plan', limit: 'runsPerPeriod', runsOutOn: { p50: null, p95: null } }],
    runsOut: null,
    leftOut: { alreadyRan: 0, alreadyBackfilled: 0, stillDue: 0 },
    nextFrom: third,
  });
  const { data: made } = await accepted(key, id, { ...lastDays(5, 2), max: 2 });
  expect(instantsOf(made.runs)).toEqual([first, second]);
  expect((await key.get(ofDays(5, 2))).data).toMatchObject({
    occurrences: { count: 1, first: third, last: third },
    leftOut: { alreadyBackfilled: 2 },
    nextFrom: null,
  });
  expect((await key.get(`/v1/routines/${id}/runs?trigger=backfill`)).data).toHaveLength(2);
  const nothing = (await key.get(ofDays(5, 4))).data;
  expect(nothing).toMatchObject({ occurrences: { count: 0, first: null, last: null } });

  const codeOf = async (client: ApiClient, path: string) => (await client.get(path)).body.error.code;
  expect(await codeOf(bobsKey, ofDays(5, 2))).toBe('routine_not_found');
  expect(await codeOf(key, ofDays(2, 5))).toBe('invalid_request');
  const unproven = await createRoutine(key);
  expect(await codeOf(key, ofDays(5, 2).replace(id, unproven))).toBe('successful_run_required');
});

test('two that come at once make no time double, and one that is repeated with its key is one', async ({ key }) => {
  const id = await activeRoutine(key);
  const both = await Promise.all([accepted(key, id, lastDays(12, 2)), accepted(key, id, lastDays(12, 2))]);
  expect(both.map(({ status }) => status)).toEqual([202, 202]);
  expect(new Set(both.map(({ data }) => data.runs.length))).toEqual(new Set([0, 10]));
  const headers = { 'Idempotency-Key': 'backfill-once' };
  const once = await accepted(key.with(headers), id, lastDays(14, 2));
  const twice = await accepted(key.with(headers), id, lastDays(14, 2));
  expect(twice.data).toEqual(once.data);
  expect(once.data.runs).toHaveLength(2);
  for (const { id: runId } of both.flatMap(({ data }) => data.runs)) {
    await key.post(`/v1/runs/${runId}/cancel`);
  }
});

test('a repeated request whose first response was lost finds the runs that it made', async ({ service, key }) => {
  const id = await activeRoutine(key);
  const headers = { 'Idempotency-Key': 'backfill-lost' };
  const first = await accepted(key.with(headers), id, lastDays(4, 2));
  await changeIdempotencyKeys(
    service.deps.database,
    { key: 'backfill-lost' },
    { status: null, answer: null, lockedUntil: AT_ONCE },
  );
  const second = await accepted(key.with(headers), id, lastDays(4, 2));
  expect(second.data).toEqual(first.data);
});

test('a time that ran is left out, one that was skipped is made up for, and one that is due is the schedule’s', async ({
  service,
  key,
}) => {
  const { database } = service.deps;
  const id = await activeRoutine(key);
  const [ran, skipped, repeated, quiet, due] = sevenOf(6, 5, 4, 3, 2);
  // Plant occurrences as a tick leaves them.
  const ended = { state: 'failed', reason: 'timeout', finishedAt: AT_ONCE } as const;
  await plantRun(database, id, { trigger: 'schedule', scheduledFor: new Date(ran!), ...ended });
  for (const [at, reason] of [
    [skipped, 'overlap'],
    [repeated, 'overlap'],
    [quiet, 'no_change'],
  ] as const) {
    const scheduledFor = new Date(at!);
    await plantSkipped(database, id, scheduledFor, { reason, skippedUntil: scheduledFor });
  }
  const byInstant = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  const toRepeat = byInstant.find((run: { scheduledFor: string }) => run.scheduledFor === repeated);
  const retried = await key.post(`/v1/runs/${toRepeat.id}/retry`);
  expect(await runEnded(key, retried.data.id)).toMatchObject({
    trigger: 'manual',
    scheduledFor: repeated,
  });
  await changeRoutines(database, id, { nextRunAt: due! });
  const { data } = await accepted(key, id, lastDays(6, 1));
  expect(instantsOf(data.runs)).toEqual([skipped]);
  expect(data.leftOut).toEqual({ alreadyRan: 3, alreadyBackfilled: 0, stillDue: 1 });
});

test('at most max times are looked at, and the response says where the next backfill goes on', async ({ key }) => {
  const id = await activeRoutine(key);
  const first = (await accepted(key, id, { ...lastDays(6, 2), max: 3 })).data;
  expect(instantsOf(first.runs)).toEqual(sevenOf(6, 5, 4));
  expect(first.nextFrom).toBe(sevenOf(3)[0]);
  const window = { from: first.nextFrom, to: lastDays(6, 2).to, max: 3 };
  const rest = (await accepted(key, id, window)).data;
  expect([instantsOf(rest.runs), rest.nextFrom]).toEqual([sevenOf(3), null]);
  // Both ends belong to the period.
  const [from, to] = sevenOf(8, 7);
  expect(instantsOf((await accepted(key, id, { from, to })).data.runs)).toEqual(sevenOf(8, 7));
});

test('a time that waits for its jitter is still due, and those before it are not', async ({ service, key }) => {
  const jitterSeconds = 3_600;
  const id = await activeRoutine(key, { jitterSeconds });
  const [due] = sevenOf(2);
  const next = new Date(new Date(due!).getTime() + jitterMs(id, jitterSeconds));
  await changeRoutines(service.deps.database, id, { nextRunAt: next });
  const { data } = await accepted(key, id, lastDays(4, 1));
  expect(instantsOf(data.runs)).toEqual(sevenOf(4, 3));
  expect(data.leftOut).toEqual({ alreadyRan: 0, alreadyBackfilled: 0, stillDue: 1 });
});

/** Returns the last Sunday of a month last year, as a date and as midnight UTC. The clocks of Berlin change on it. */
function lastSundayOf(month: number): number {
  const end = new Date(Date.UTC(new Date().getUTCFullYear() - 1, month + 1, 0));
  return end.getTime() - end.getUTCDay() * DAY_MS;
}

test('over a clock change it takes the times that the schedule had', async ({ key }) => {
  const id = await activeRoutine(key, { schedule: '30 2 * * *', timezone: 'Europe/Berlin' });
  const cases = [
    { sunday: lastSundayOf(2), times: ['01:30', '01:00', '00:30'] },
    { sunday: lastSundayOf(9), times: ['00:30', '00:30', '01:30'] },
  ];
  for (const { sunday, times } of cases) {
    const window = {
      from: new Date(sunday - DAY_MS).toISOString(),
      to: new Date(sunday + 2 * DAY_MS - 1).toISOString(),
    };
    const { data } = await accepted(key, id, window);
    expect(instantsOf(data.runs).map((text) => text.slice(11, 16))).toEqual(times);
    expect(instantsOf(data.runs)[1]?.slice(0, 10)).toBe(new Date(sunday).toISOString().slice(0, 10));
  }
});

test('the window of the schedule and its skipped dates hold for the past too', async ({ key }) => {
  const id = await activeRoutine(key, {
    startsAt: daysAgo(5).toISOString(),
    skipDates: [daysAgo(4).toISOString().slice(0, 10)],
  });
  const { data } = await accepted(key, id, lastDays(8, 2));
  expect(instantsOf(data.runs)).toEqual(sevenOf(5, 3));
});

test('it waits behind scheduled runs, one at a time unless overlap allows more, and pausing leaves it', async ({
  service,
  key,
}) => {
  const { database } = service.deps;
  const id = await activeRoutine(key);
  const { data } = await accepted(key, id, lastDays(4, 2));
  const [first] = data.runs;
  const rowsOf = () =>
    database.rows<{ afterPrevious: boolean; days: number }>`
      select after_previous as "afterPrevious",
        round(extract(epoch from queue_until - created_at) / 86400)::integer as days
      from runs where routine_id = ${id} and trigger = 'backfill'
    `;
  expect(await rowsOf()).toEqual([
    { afterPrevious: true, days: 7 },
    { afterPrevious: true, days: 7 },
  ]);
  // A backfill does not count as an overlapping run of an occurrence that falls due.
  await fallDue(service, id);
  const [scheduled] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  expect(scheduled.state).not.toBe('skipped');
  await key.post(`/v1/routines/${id}/pause`);
  expect(await runEnded(key, first.id)).toMatchObject({ state: 'succeeded' });
  expect(await runEnded(key, data.runs[1].id)).toMatchObject({ state: 'succeeded' });
});

test('it needs a proven version and a routine that is not archived', async ({ key }) => {
  const id = await createRoutine(key);
  const unproven = await accepted(key, id, lastDays(4, 2));
  expect([unproven.status, unproven.body.error.code]).toEqual([409, 'successful_run_required']);
  await runOnce(key, id);
  expect((await accepted(key, id, lastDays(4, 2))).status).toBe(202);
  await key.patch(`/v1/routines/${id}`, { instructions: 'Write two lines.' });
  const changed = await accepted(key, id, lastDays(6, 2));
  expect(changed.body.error.code).toBe('successful_run_required');
  await key.delete(`/v1/routines/${id}`);
  const archived = await accepted(key, id, lastDays(4, 2));
  expect([archived.status, archived.body.error.code]).toEqual([409, 'routine_archived']);
});

test('a window that is not past, ends before it begins, or is no longer kept is 400, and so is what is no window', async ({
  key,
}) => {
  const id = await activeRoutine(key);
  const good = lastDays(4, 2);
  const tomorrow = daysAgo(-1).toISOString();
  for (const [body, named] of [
    [{ from: good.to, to: good.from }, 'from'],
    [{ ...good, to: tomorrow }, 'to'],
    [{ ...good, to: '9999-12-31T23:59:59-23:59' }, 'to'],
    [{ ...good, from: daysAgo(1001).toISOString() }, 'from'],
    [{ ...good, from: '0000-01-01T00:00:00Z' }, 'from'],
    [{ ...good, from: 'yesterday' }, 'from'],
    [{ from: good.from }, 'to'],
    [{ ...good, max: 201 }, 'max'],
    [{ ...good, max: 0 }, 'max'],
    [{ ...good, max: '5' }, 'max'],
    [{ ...good, acceptForecast: 'true' }, 'acceptForecast'],
    [{ ...good, every: 1 }, 'every'],
  ] as const) {
    const refused = await accepted(key, id, body);
    expect([body, refused.status, refused.body.error.code]).toEqual([body, 400, 'invalid_request']);
    expect(refused.body.error.message).toContain(named);
  }
  expect((await key.get(`/v1/routines/${id}/runs?trigger=backfill`)).data).toEqual([]);
});

test('of another project there is no such routine and there are no such runs', async ({ key, bobsKey, ada }) => {
  const id = await activeRoutine(key);
  const foreign = await accepted(bobsKey, id, lastDays(4, 2));
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'routine_not_found']);
  const { data } = await accepted(key, id, lastDays(4, 2));
  expect((await bobsKey.get(`/v1/runs?backfillId=${data.id}`)).data).toEqual([]);
  const reader = await ada.key(['runs:read']);
  const refused = await accepted(reader, id, lastDays(4, 2));
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
});

test('all runs are made or none: what is left of the allowance and of the waiting places has to do', async ({
  service,
}) => {
  const { database } = service.deps;
  const person = await signUp(service);
  const key = await person.key();
  const id = await activeRoutine(key);
  const { organizationId } = person;
  const begun = sql`select runs from period_runs where organization_id = ${organizationId}`;
  const [before] = await database.rows<{ runs: number }>`${begun}`;
  await changePeriodRuns(database, { organizationId }, { runs: 200_000 - 1 });
  const refused = await accepted(key, id, lastDays(4, 2));
  expect([refused.status, refused.body.error.code]).toEqual([402, 'allowance_exceeded']);
  expect(refused.body.error.message).toContain('needs 2 runs, and only 1 of the 200000');
  await changePeriodRuns(database, { organizationId }, { runs: before!.runs });

  // The runs have waited too long for admission, and no tick has skipped them yet.
  const planted = await plantRuns(database, id, 999, {
    trigger: 'backfill',
    standsFor: sql`now() - n * interval '1 year'`,
    backfillId: 'bkf_planted',
    afterPrevious: true,
    queueUntil: ago('1 day'),
  });
  const crowded = await accepted(key, id, lastDays(4, 2));
  expect([crowded.status, crowded.body.error.code]).toEqual([409, 'limit_reached']);
  expect((await accepted(key, id, { ...lastDays(4, 2), max: 1 })).status).toBe(202);
  await removeRuns(database, planted);
  expect(await database.rows`${begun}`).toEqual([{ runs: before!.runs + 1 }]);
});
