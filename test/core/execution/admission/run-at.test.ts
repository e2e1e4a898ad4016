import { expect } from 'vitest';
import { createTickParts, tick } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine, runEnded } from '#test/support/routines.ts';
import { ahead, changeRoutines, changeRuns, earlier, fallDue, plantRuns } from '#test/support/given.ts';

const test = serviceTest({ worker: true, own: true });

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

test('a run asked for a later time waits for it, with the version it was made with, and then starts', async ({
  service,
  key,
}) => {
  const { database } = service.deps;
  const id = await createRoutine(key, { instructions: 'Report as of {{scheduledFor}}.' });
  const runAt = inDays(300);
  const asked = await key.post(`/v1/routines/${id}/run`, { runAt });
  expect(asked.status).toBe(202);
  expect(asked.data).toMatchObject({
    state: 'queued',
    trigger: 'manual',
    runAt,
    scheduledFor: null,
  });
  await key.patch(`/v1/routines/${id}`, { instructions: 'Something else.' });
  const parts = createTickParts(service.deps);
  await parts.admission();
  const waiting = (await key.get(`/v1/runs/${asked.data.id}`)).data;
  expect(waiting).toMatchObject({ state: 'queued', waitingFor: 'run_at', queuedSeconds: 0 });
  await changeRuns(database, asked.data.id, { runAt: AT_ONCE });
  await parts.admission();
  const ended = await runEnded(key, asked.data.id);
  expect(ended).toMatchObject({ state: 'succeeded', routineRevision: 1 });
  expect(ended.prompt).toBe(`Report as of ${ended.runAt}.`);
});

test('one whose time has not come keeps no scheduled or manual run from starting', async ({ service, key }) => {
  const id = await activeRoutine(key, { schedule: '@yearly', overlap: 'cancel_previous' });
  const asked = await key.post(`/v1/routines/${id}/run`, { runAt: inDays(10) });
  for (const overlap of ['cancel_previous', 'skip']) {
    await key.patch(`/v1/routines/${id}`, { overlap });
    await fallDue(service, id);
    await service.deps.admission.admit();
    const [run] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
    expect(await runEnded(key, run.id)).toMatchObject({ state: 'succeeded' });
  }
  expect((await key.get(`/v1/runs/${asked.data.id}`)).data.state).toBe('queued');
  const cancelled = await key.post(`/v1/runs/${asked.data.id}/cancel`);
  expect(cancelled.data).toMatchObject({ state: 'cancelled' });
});

test('a time that is past, beyond a year or no time is 400, and nothing is counted for it', async ({ key }) => {
  const id = await createRoutine(key);
  for (const runAt of [inDays(-1), inDays(367), 'tomorrow', '9999-12-31T23:59:59-23:59']) {
    const refused = await key.post(`/v1/routines/${id}/run`, { runAt });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.error.message).toContain('runAt');
  }
  expect((await key.get(`/v1/routines/${id}/runs`)).data).toEqual([]);
});

test('archiving the routine skips it', async ({ key }) => {
  const id = await createRoutine(key);
  const asked = await key.post(`/v1/routines/${id}/run`, { runAt: inDays(1) });
  await key.delete(`/v1/routines/${id}`);
  const { data } = await key.get(`/v1/runs/${asked.data.id}`);
  expect(data).toMatchObject({ state: 'skipped', reason: 'archived' });
});

test('a scheduled run is told the instant of its schedule, without jitter, and one that repeats it the same', async ({
  service,
  key,
}) => {
  const { database } = service.deps;
  const id = await activeRoutine(key, {
    schedule: '0 * * * *',
    jitterSeconds: 1_800,
    instructions: 'Report as of {{scheduledFor}}.',
  });
  await changeRoutines(database, id, { nextRunAt: earlier('1 hour') });
  await tick(service.deps);
  await service.deps.admission.admit();
  const [run] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  expect(run.scheduledFor).toMatch(/:00:00\.000Z$/);
  const words = `Report as of ${run.scheduledFor}.`;
  expect(await runEnded(key, run.id)).toMatchObject({ state: 'succeeded', prompt: words });
  const retried = await key.post(`/v1/runs/${run.id}/retry`);
  expect(await runEnded(key, retried.data.id)).toMatchObject({
    trigger: 'manual',
    scheduledFor: run.scheduledFor,
    prompt: words,
  });
});

test('a project has at most 1,000 runs that wait for their times, apart from those of other projects', async ({
  service,
  bobsKey,
  key,
}) => {
  const id = await createRoutine(bobsKey);
  await plantRuns(service.deps.database, id, 999, { runAt: ahead('1 day'), held: true });
  const last = await bobsKey.post(`/v1/routines/${id}/run`, { runAt: inDays(1) });
  expect(last.status).toBe(202);
  const refused = await bobsKey.post(`/v1/routines/${id}/run`, { runAt: inDays(1) });
  expect([refused.status, refused.body.error.code]).toEqual([409, 'limit_reached']);
  const others = await createRoutine(key);
  expect((await key.post(`/v1/routines/${others}/run`, { runAt: inDays(1) })).status).toBe(202);
  await bobsKey.post(`/v1/runs/${last.data.id}/cancel`);
  const again = await bobsKey.post(`/v1/routines/${id}/run`, { runAt: inDays(1) });
  expect(again.status).toBe(202);
});
