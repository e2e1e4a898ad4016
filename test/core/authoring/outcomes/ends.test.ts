import { expect } from 'vitest';
import { marker } from '#test/core/integrations/tools/support.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { fallDue } from '#test/support/given.ts';
import { activeRoutine, createRoutine, routineBody, runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest({ worker: true })
  /** Makes an active routine that has to state its outcome; `says` sets the call of `finish` in its next run. */
  .extend('routine', ({ service, key }) => async (fields: object) => {
    const mark = marker();
    const id = await activeRoutine(key, { instructions: `Report. ${mark}`, outcome: 'required', ...fields });
    return { id, says: (more: object, times = 1) => says(service, mark, more, times) };
  });

function says(service: Service, mark: string, more: object, times: number): void {
  const args = { outcome: 'done', summary: 'All is there.', ...more };
  const calls = [{ name: 'finish', arguments: args }];
  service.gateway.control.script({ marker: mark, times, behaviour: { kind: 'tool-calls', calls, text: 'The end.' } });
}

async function scheduledRun(service: Service, key: ApiClient, id: string) {
  await fallDue(service, id);
  const { data } = await key.get(`/v1/routines/${id}/runs?trigger=schedule`);
  return data[0].state === 'skipped' ? data[0] : runEnded(key, data[0].id);
}

async function read(key: ApiClient, id: string) {
  return (await key.get(`/v1/routines/${id}`)).data;
}

function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}

test('a scheduled run that says it is the last pauses its routine, which activation starts again', async ({
  service,
  key,
  routine,
}) => {
  const { id, says: say } = await routine({ mayComplete: true });
  say({ final: true });
  expect((await scheduledRun(service, key, id)).state).toBe('succeeded');
  expect(await read(key, id)).toMatchObject({ state: 'paused', stateReason: 'completed', nextRunAt: null });
  const { data } = await key.post(`/v1/routines/${id}/activate`);
  expect(data).toMatchObject({ state: 'active', stateReason: null });
});

test('a run by hand that says it is the last pauses nothing, be it the first or a later one', async ({
  service,
  key,
}) => {
  const mark = marker();
  const fields = { instructions: `Report. ${mark}`, outcome: 'required', mayComplete: true };
  const id = await createRoutine(key, fields);
  says(service, mark, { final: true }, 2);
  expect((await runOnce(key, id)).state).toBe('succeeded');
  expect(await read(key, id)).toMatchObject({ state: 'draft', stateReason: null });
  await key.post(`/v1/routines/${id}/activate`);
  expect((await runOnce(key, id)).state).toBe('succeeded');
  expect(await read(key, id)).toMatchObject({ state: 'active', stateReason: null });
});

test('hostile text cannot end a routine that does not allow it: the call is refused, and the run goes on', async ({
  service,
  key,
  routine,
}) => {
  const { id, says: say } = await routine({});
  say({ final: true });
  const run = await scheduledRun(service, key, id);
  expect(run).toMatchObject({ state: 'succeeded', outcome: 'done' });
  expect(JSON.stringify((await key.get(`/v1/runs/${run.id}`)).data)).toContain('does not take final');
  expect(await read(key, id)).toMatchObject({ state: 'active', stateReason: null });
});

test('a run that did a part only, or failed, is not the last', async ({ service, key, routine }) => {
  const { id, says: say } = await routine({ mayComplete: true });
  for (const outcome of ['partial', 'could_not']) {
    say({ final: true, outcome });
    await scheduledRun(service, key, id);
    expect(await read(key, id)).toMatchObject({ state: 'active' });
  }
});

test('a scheduled run delays the next ones, which are skipped with that reason until activation', async ({
  service,
  key,
  routine,
}) => {
  const { id, says: say } = await routine({ mayPutOffHours: 72 });
  const nextNotBefore = inHours(48);
  say({ nextNotBefore });
  expect((await scheduledRun(service, key, id)).state).toBe('succeeded');
  expect(await read(key, id)).toMatchObject({ state: 'active', notBefore: nextNotBefore });
  expect(await scheduledRun(service, key, id)).toMatchObject({ state: 'skipped', reason: 'put_off' });
  await key.post(`/v1/routines/${id}/pause`);
  await key.post(`/v1/routines/${id}/activate`);
  expect((await read(key, id)).notBefore).toBeNull();
  expect((await scheduledRun(service, key, id)).state).toBe('succeeded');
});

test.for([
  ['beyond the bound', inHours(100)],
  ['in the past', inHours(-1)],
  ['that is no instant', 'next week'],
])('a time %s puts off nothing', async ([, nextNotBefore], { service, key, routine }) => {
  const { id, says: say } = await routine({ mayPutOffHours: 72 });
  say({ nextNotBefore });
  const run = await scheduledRun(service, key, id);
  expect(run.state).toBe('succeeded');
  expect(JSON.stringify((await key.get(`/v1/runs/${run.id}`)).data)).toContain('nextNotBefore must be');
  expect(await read(key, id)).toMatchObject({ state: 'active', notBefore: null });
});

test('both need an outcome that is required, and are material', async ({ key }) => {
  for (const fields of [{ mayComplete: true }, { mayPutOffHours: 24 }]) {
    const refused = await key.post('/v1/routines', routineBody(fields));
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('required')]);
    const id = await createRoutine(key, { outcome: 'required' });
    expect((await key.patch(`/v1/routines/${id}`, fields)).data.revision).toBe(2);
  }
});

test('fields that are not set are left out of what is stored, so that the release before reads the routine', async ({
  service,
  key,
}) => {
  const id = await createRoutine(key);
  const stored = await service.deps.database.row<{ names: string[] }>`
    select array(select jsonb_object_keys(definition)) as names from routines where id = ${id}
  `;
  expect(stored?.names).toContain('outcome');
  expect(stored?.names).not.toContain('mayComplete');
  expect(await read(key, id)).toMatchObject({ mayComplete: false, mayPutOffHours: null });
});
