import { expect } from 'vitest';
import { dyingProcess } from '#test/support/end-deps.ts';
import { replaceOpenRuns, sweepOpenRuns } from '#core/execution/runs/index.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { ApiClient } from '#test/support/client.ts';
import { activeRoutine, runEnded } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { ago, changeRoutines, changeRuns, fallDue } from '#test/support/given.ts';

const test = serviceTest({ worker: true, own: true });

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
}

/** Makes the next occurrence of a routine due and claims it; returns the scheduled runs, oldest first. */
async function claimNext(service: Service, key: ApiClient, id: string): Promise<Listed[]> {
  await fallDue(service, id);
  const { data } = await key.get(`/v1/routines/${id}/runs?trigger=schedule`);
  return (data as Listed[]).toReversed();
}

/** Makes a routine whose first run waits for its model until it is released. */
async function busyRoutine(service: Service, key: ApiClient, overlap: string, fields: Record<string, unknown> = {}) {
  const mark = `overlap-${overlap}-${Math.random()}`;
  const id = await activeRoutine(key, {
    instructions: mark,
    overlap,
    schedule: '@yearly',
    ...fields,
  });
  const release = service.gateway.control.hold({ marker: mark });
  const [first] = await claimNext(service, key, id);
  await expect.poll(async () => (await key.get(`/v1/runs/${first!.id}`)).data.state).toBe('running');
  return { id, mark, first: first!, release };
}

test('with queue one occurrence waits for the run under way, and runs when that has ended; more are skipped', async ({
  service,
  key,
}) => {
  const { id, first, release } = await busyRoutine(service, key, 'queue');
  const [, waiting] = await claimNext(service, key, id);
  expect(waiting).toMatchObject({ state: 'queued' });
  expect((await key.get(`/v1/runs/${waiting!.id}`)).data).toMatchObject({
    state: 'queued',
    waitingFor: 'previous_run',
  });
  const [, , third] = await claimNext(service, key, id);
  expect(third).toMatchObject({ state: 'skipped', reason: 'overlap' });
  release();
  const ended = [await runEnded(key, first.id), await runEnded(key, waiting!.id)];
  expect(ended.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
  const [{ finishedAt }, { startedAt }] = ended as [{ finishedAt: string }, { startedAt: string }];
  expect(startedAt >= finishedAt).toBe(true);
});

test('with cancel_previous the next occurrence replaces the run under way', async ({ service, key }) => {
  const { id, first } = await busyRoutine(service, key, 'cancel_previous');
  const [, next] = await claimNext(service, key, id);
  expect(await runEnded(key, first.id)).toMatchObject({
    state: 'cancelled',
    reason: 'replaced',
    errorMessage: 'The next occurrence of the routine replaced this run.',
  });
  expect(await runEnded(key, next!.id)).toMatchObject({ state: 'succeeded' });
  const { data: listed } = await key.get(`/v1/routines/${id}/runs?state=cancelled`);
  expect(listed).toMatchObject([{ id: first.id, reason: 'replaced' }]);
});

test('a webhook tells a run that was replaced from one that a user cancelled', async ({ service, key }) => {
  const receiver = await startReceiver((_, response) => response.writeHead(204).end());
  const fields = { webhookUrl: `${receiver.origin}/hook`, deliver: 'always' };
  const { id, first, mark } = await busyRoutine(service, key, 'cancel_previous', fields);
  service.gateway.control.hold({ marker: mark });
  const [, second] = await claimNext(service, key, id);
  await runEnded(key, first.id);
  await expect.poll(async () => (await key.get(`/v1/runs/${second!.id}`)).data.state).toBe('running');
  expect((await key.post(`/v1/runs/${second!.id}/cancel`)).status).toBe(202);
  await runEnded(key, second!.id);
  const told = () =>
    Object.fromEntries(
      receiver.received
        .map(({ body }) => JSON.parse(body))
        .filter(({ type }) => type === 'run.cancelled')
        .map(({ data }) => [data.id, data.reason]),
    );
  await expect.poll(told).toEqual({ [first.id]: 'replaced', [second!.id]: 'cancelled' });
});

test('the first to ask says why a run under way is cancelled', async ({ service, key }) => {
  const { database } = service.deps;
  const replaced = await busyRoutine(service, key, 'cancel_previous');
  const cancelled = await busyRoutine(service, key, 'cancel_previous');
  // Temporal does not learn of it, as when the process dies after its commit. Only a sweep cancels the workflow.
  await transaction(database, (tx) => replaceOpenRuns(dyingProcess(database), tx, [replaced.id]));
  expect((await key.post(`/v1/runs/${cancelled.first.id}/cancel`)).status).toBe(202);
  await transaction(database, (tx) => replaceOpenRuns(dyingProcess(database), tx, [cancelled.id]));
  expect((await key.post(`/v1/runs/${replaced.first.id}/cancel`)).status).toBe(202);
  expect(await runEnded(key, replaced.first.id)).toMatchObject({
    state: 'cancelled',
    reason: 'replaced',
  });
  expect(await runEnded(key, cancelled.first.id)).toMatchObject({
    state: 'cancelled',
    reason: 'cancelled',
  });
});

test('a run whose process died after it was replaced ends as replaced by the sweep', async ({ service, key }) => {
  const { database } = service.deps;
  const { id, first } = await busyRoutine(service, key, 'cancel_previous');
  await transaction(database, (tx) => replaceOpenRuns(dyingProcess(database), tx, [id]));
  await changeRuns(database, first.id, {
    workflowStartedAt: ago('1 minute'),
    cancelRequestedAt: ago('1 minute'),
  });
  await sweepOpenRuns(service.deps, new AbortController().signal);
  expect(await runEnded(key, first.id)).toMatchObject({ state: 'cancelled', reason: 'replaced' });
});

test('a run that is locked while the next occurrence is claimed is replaced by the sweep, and never beside it', async ({
  service,
  key,
}) => {
  const { database } = service.deps;
  const { id, first } = await busyRoutine(service, key, 'cancel_previous');
  const next = await transaction(database, async (tx) => {
    await tx.run`select from runs where id = ${first.id} for no key update`;
    await changeRoutines(database, id, { nextRunAt: AT_ONCE });
    await createTickParts(service.deps).claim(new AbortController().signal);
    // A sweep that finds the run locked leaves it to the next sweep.
    await sweepOpenRuns(service.deps, new AbortController().signal);
    const { data } = await key.get(`/v1/routines/${id}/runs?trigger=schedule&state=queued`);
    return data[0] as Listed;
  });
  expect((await key.get(`/v1/runs/${next.id}`)).data).toMatchObject({ waitingFor: 'previous_run' });
  expect((await key.get(`/v1/runs/${first.id}`)).data.state).toBe('running');
  // A person starts another run in the meantime, which is never replaced.
  const { data: later } = await key.post(`/v1/routines/${id}/run`);
  await sweepOpenRuns(service.deps, new AbortController().signal);
  const replaced = await runEnded(key, first.id);
  expect(replaced).toMatchObject({ state: 'cancelled', reason: 'replaced' });
  const ran = await runEnded(key, next.id);
  expect(ran.state).toBe('succeeded');
  expect((await runEnded(key, later.id)).state).toBe('succeeded');
  expect(ran.startedAt >= replaced.finishedAt).toBe(true);
});

test('a sweep leaves the run alone that the next occurrence waits for', async ({ service, key }) => {
  const { id, first, release } = await busyRoutine(service, key, 'queue');
  const [, waiting] = await claimNext(service, key, id);
  await sweepOpenRuns(service.deps, new AbortController().signal);
  release();
  expect((await runEnded(key, first.id)).state).toBe('succeeded');
  expect((await runEnded(key, waiting!.id)).state).toBe('succeeded');
});

test('with skip the next occurrence is passed over, and with allow it runs beside the other', async ({
  service,
  key,
}) => {
  const careful = await busyRoutine(service, key, 'skip');
  const [, skipped] = await claimNext(service, key, careful.id);
  expect(skipped).toMatchObject({ state: 'skipped', reason: 'overlap' });

  const bold = await busyRoutine(service, key, 'allow');
  const [, beside] = await claimNext(service, key, bold.id);
  expect(await runEnded(key, beside!.id)).toMatchObject({ state: 'succeeded' });
  expect((await key.get(`/v1/runs/${bold.first.id}`)).data.state).toBe('running');
  careful.release();
  expect((await runEnded(key, careful.first.id)).state).toBe('succeeded');
});
