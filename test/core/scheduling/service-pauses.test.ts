import { expect } from 'vitest';
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { pausedEvent } from '#api/docs/webhooks.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, runEnded } from '#test/support/routines.ts';
import { parseSamples, total } from '#test/core/upkeep/observability/scrape.ts';
import { ago, ahead, changeRoutines, plantRun } from '#test/support/given.ts';
import { plantRoutine, routineOf } from './planted.ts';

const test = serviceTest({ worker: true, own: true });

test.for([
  ['whose schedule cannot be computed', { schedule: 'nonsense', nextRunAt: AT_ONCE }, 'no computable next time'],
  [
    'whose model provider is disabled',
    {
      modelProvider: 'provider-b',
      modelConnectionId: newId('modelConnection'),
      nextRunAt: ahead('1 day'),
    },
    'its model provider is disabled',
  ],
  ['whose window is over', { endsAt: ago('1 minute'), nextRunAt: ago('50 seconds') }, 'schedule_ended'],
] as const)(
  'a routine %s is paused by the service, which leaves an audit event and a webhook event',
  async ([, broken, reason], { service }) => {
    const { database } = service.deps;
    const routine = await plantRoutine(database, { schedule: '@yearly' });
    const webhookUrl = 'http://127.0.0.1:9/hook';
    await changeRoutines(database, routine.id, { ...broken, webhookUrl });
    await tick(service.deps);
    await tick(service.deps);
    const { state, stateReason } = await routineOf(database, routine.id);
    expect({ state, stateReason }).toEqual({
      state: 'paused',
      stateReason: expect.stringContaining(reason),
    });
    expect(await told(service.deps, routine)).toEqual({
      audit: [stateReason],
      webhooks: [stateReason],
    });
  },
);

test('a routine that pauses after failures leaves an audit event that names the run, beside its webhook event', async ({
  service,
  key,
  ada,
}) => {
  const { database, admission } = service.deps;
  const id = await activeRoutine(key, { schedule: '@yearly', pauseAfterFailures: 1 });
  await changeRoutines(database, id, { webhookUrl: 'http://127.0.0.1:9/hook', nextRunAt: AT_ONCE });
  service.gateway.control.script({ behaviour: { kind: 'text', text: '' } });
  await tick(service.deps);
  await admission.admit();
  const [run] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  await runEnded(key, run.id);
  const reason = 'paused after 1 failed runs in a row';
  const { organizationId, projectId } = ada;
  const routine = { id, organizationId, projectId };
  expect(await told(service.deps, routine)).toEqual({ audit: [reason], webhooks: [reason] });
  const { data } = await ada.session.get(
    `/v1/audit-events?organizationId=${organizationId}&targetId=${id}&action=routine.paused`,
  );
  expect(data[0]).toMatchObject({
    actor: { kind: 'system', id: null },
    details: { reason, runId: run.id },
  });
});

test('scheduled runs that are skipped because the service pauses their routine are counted as ended', async ({
  service,
  key,
}) => {
  const { database, admission } = service.deps;
  const queued = { trigger: 'schedule', state: 'queued', held: true } as const;
  const skipped = async () =>
    total(parseSamples(await service.registry.metrics()), 'ras_runs_ended_total', {
      reason: 'paused',
    });
  const before = await skipped();
  const unreadable = await plantRoutine(database, { schedule: '@yearly' });
  await plantRun(database, unreadable.id, queued);
  await changeRoutines(database, unreadable.id, { schedule: 'nonsense', nextRunAt: AT_ONCE });
  await tick(service.deps);
  expect(await skipped()).toBe(before + 1);

  const id = await activeRoutine(key, { schedule: '@yearly', pauseAfterFailures: 1 });
  const waiting = await plantRun(database, id, queued);
  await changeRoutines(database, id, { nextRunAt: AT_ONCE, overlap: 'allow' });
  service.gateway.control.script({ behaviour: { kind: 'text', text: '' } });
  await tick(service.deps);
  await admission.admit();
  const { data } = await key.get(`/v1/routines/${id}/runs?trigger=schedule`);
  await runEnded(key, data.find((run: { id: string }) => run.id !== waiting).id);
  await expect.poll(skipped).toBe(before + 2);
});

/** Returns the reasons of the pause in audit events and webhook events. */
async function told({ database }: { database: Db }, { id, organizationId }: { id: string; organizationId: string }) {
  const events = await database.rows<{ reason: string }>`
    select details ->> 'reason' as reason from audit_events
    where organization_id = ${organizationId} and target_id = ${id} and action = 'routine.paused' and actor_kind = 'system'
  `;
  const deliveries = await database.rows<{
    body: string;
  }>`select body from webhook_deliveries where routine_id = ${id} and event_type = 'routine.paused'`;
  return {
    audit: events.map(({ reason }) => reason),
    webhooks: deliveries.map(({ body }) => pausedEvent.parse(JSON.parse(body)).data.reason),
  };
}
