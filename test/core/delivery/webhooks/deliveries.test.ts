import { expect } from 'vitest';
import { AT_ONCE } from '#lib/database/index.ts';
import { startReceiver, type Receiver } from '#test/lib/outbound/receiver.ts';
import { openStream } from '#test/core/execution/run-events/event-source.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Service } from '#test/support/service.ts';
import type { Json } from '#test/core/integrations/tools/support.ts';
import { prices, typedRoutine, type TypedRoutine } from '#test/core/execution/results/world.ts';
import { changeDeliveries, changeRuns, plantRun } from '#test/support/given.ts';

const test = serviceTest({ worker: true });

interface Told extends TypedRoutine {
  readonly receiver: Receiver;
  /** Waits for this number of events, and returns those that arrived. */
  readonly events: (count: number) => Promise<Json[]>;
}

/** Makes a routine with a webhook that by default gets events about changes only. */
async function toldRoutine(
  service: Service,
  key: ApiClient,
  fields: Record<string, unknown> = {},
  status: () => number = () => 204,
): Promise<Told> {
  const receiver = await startReceiver((_, response) => response.writeHead(status()).end());
  const routine = await typedRoutine(service, key, {
    webhookUrl: `${receiver.origin}/hook`,
    deliver: 'changed',
    ...fields,
  });
  return {
    ...routine,
    receiver,
    events: async (count) => {
      await expect.poll(() => receiver.received.length).toBe(count);
      return receiver.received.map(({ body }) => JSON.parse(body));
    },
  };
}

/** Lists the queued events, sent or not. */
async function queued(service: Service, routineId: string): Promise<string[]> {
  const found = await service.deps.database.rows<{
    type: string;
  }>`select event_type as type from webhook_deliveries where routine_id = ${routineId} order by id`;
  return found.map(({ type }) => type);
}

test('the webhook comes only when something was added, removed or changed', async ({ service, key }) => {
  const { id, run, events } = await toldRoutine(service, key);
  const first = await run(prices({ tea: 3, salt: 1 }));
  expect(first).toMatchObject({
    withheld: null,
    changes: { against: null, unchangedRuns: 0, counts: { added: 2, removed: 0, changed: 0 } },
  });
  const quiet = [
    await run(prices({ tea: 3, salt: 1 })),
    await run(prices({ salt: 1, tea: 3 }, 'The same in another order.')),
    await run(prices({ tea: 3, salt: 1 })),
  ];
  expect(quiet).toMatchObject(
    [1, 2, 3].map((unchangedRuns) => ({
      state: 'succeeded',
      withheld: 'no_change',
      webhookDeliveries: [],
      changes: {
        against: first.id,
        unchangedRuns,
        counts: { added: 0, removed: 0, changed: 0 },
        truncated: false,
      },
    })),
  );
  const last = await run(prices({ tea: 4, rice: 2 }));
  expect(await queued(service, id)).toEqual(['run.changed', 'run.changed']);
  const [, event] = await events(2);
  expect(event).toMatchObject({
    type: 'run.changed',
    data: {
      id: last.id,
      state: 'succeeded',
      data: prices({ tea: 4, rice: 2 }),
      changes: {
        against: first.id,
        unchangedRuns: 3,
        by: { list: '/items', key: '/id' },
        counts: { added: 1, removed: 1, changed: 1 },
        added: [{ id: 'rice', price: 2 }],
        removed: [{ id: 'salt', price: 1 }],
        changed: [{ key: 'tea', before: { id: 'tea', price: 3 }, after: { id: 'tea', price: 4 } }],
        truncated: false,
      },
    },
  });
  expect(last.changes).toEqual(event.data.changes);
  const listed = (await key.get(`/v1/routines/${id}/runs`)).data;
  expect(listed.map(({ withheld }: Json) => withheld)).toEqual([null, 'no_change', 'no_change', 'no_change', null]);
});

test('an empty list is a change where nothing was delivered before', async ({ service, key }) => {
  const { id, run } = await toldRoutine(service, key);
  expect(await run(prices({}))).toMatchObject({ withheld: null, changes: { against: null } });
  expect(await run(prices({}))).toMatchObject({ withheld: 'no_change' });
  expect(await queued(service, id)).toEqual(['run.changed']);
});

test('every setting of deliver sends failures, so silence never means that nothing works', async ({ service, key }) => {
  const changed = await toldRoutine(service, key);
  await changed.run(prices({ tea: 3 }));
  expect(await changed.run('No.', 'No.')).toMatchObject({ state: 'failed', withheld: null });
  expect(await changed.run(prices({ tea: 3 }))).toMatchObject({ withheld: 'no_change' });
  expect(await queued(service, changed.id)).toEqual(['run.changed', 'run.failed']);

  const failed = await toldRoutine(service, key, { deliver: 'failed' });
  expect(await failed.run(prices({ tea: 3 }))).toMatchObject({ withheld: 'not_failed' });
  await failed.run('No.', 'No.');
  expect(await queued(service, failed.id)).toEqual(['run.failed']);
});

test('a run without a schema is told by the same policy', async ({ service, key }) => {
  const untyped = { resultSchema: null, resultKey: null, deliver: 'failed' };
  const { id, run } = await toldRoutine(service, key, untyped);
  expect(await run('All is well.')).toMatchObject({ withheld: 'not_failed', changes: null });
  expect(await queued(service, id)).toEqual([]);
  await key.patch(`/v1/routines/${id}`, { deliver: 'always' });
  expect(await run('All is well.')).toMatchObject({ withheld: null });
  expect(await queued(service, id)).toEqual(['run.succeeded']);
});

test('a cancelled run has brought no change', async ({ service, key }) => {
  const { id, mark } = await toldRoutine(service, key);
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'hang' } });
  const { data: started } = await key.post(`/v1/routines/${id}/run`);
  await expect.poll(async () => (await key.get(`/v1/runs/${started.id}`)).data.state).toBe('running');
  await key.post(`/v1/runs/${started.id}/cancel`);
  await expect
    .poll(async () => (await key.get(`/v1/runs/${started.id}`)).data)
    .toMatchObject({ state: 'cancelled', withheld: 'no_change' });
  expect(await queued(service, id)).toEqual([]);
});

test('a routine that delivers everything sends the changes with each run, compared with the previous run', async ({
  service,
  key,
}) => {
  const { id, run, events } = await toldRoutine(service, key, { deliver: 'always' });
  const first = await run(prices({ tea: 3 }));
  const second = await run(prices({ tea: 3 }));
  const third = await run(prices({ tea: 3 }));
  expect(await queued(service, id)).toEqual(Array(3).fill('run.succeeded'));
  const told = (await events(3)).toSorted((a, b) => (a.data.id < b.data.id ? -1 : 1));
  expect(told.map(({ data }) => data.changes.against)).toEqual([null, first.id, second.id]);
  expect(told.map(({ data }) => data.changes.unchangedRuns)).toEqual([0, 1, 2]);
  expect(third.changes.counts).toEqual({ added: 0, removed: 0, changed: 0 });
});

test('what a receiver has lost for good is a change again', async ({ service, key }) => {
  let status = 204;
  const { id, run, events } = await toldRoutine(service, key, {}, () => status);
  const first = await run(prices({ tea: 3 }));
  await events(1);
  status = 500;
  const lost = await run(prices({ tea: 4 }));
  await events(2);
  // An event that is still tried counts as delivered.
  expect(await run(prices({ tea: 4 }))).toMatchObject({
    withheld: 'no_change',
    changes: { against: lost.id },
  });
  await changeDeliveries(service.deps.database, { runId: lost.id }, { state: 'failed', reason: 'retries_exhausted' });
  status = 204;
  expect(await run(prices({ tea: 4 }))).toMatchObject({
    withheld: null,
    changes: { against: first.id, unchangedRuns: 0, counts: { added: 0, removed: 0, changed: 1 } },
  });
  expect(await queued(service, id)).toEqual(Array(3).fill('run.changed'));
});

test('what ended before there was a webhook was not delivered', async ({ service, key }) => {
  const { id, run, receiver } = await toldRoutine(service, key, {
    webhookUrl: null,
    deliver: 'always',
  });
  const first = await run(prices({ tea: 3 }));
  expect(first).toMatchObject({ withheld: 'no_webhook', changes: { against: null } });
  // Without a webhook, each run is compared with the run before.
  expect(await run(prices({ tea: 3 }))).toMatchObject({
    withheld: 'no_webhook',
    changes: { against: first.id, unchangedRuns: 1 },
  });
  await key.patch(`/v1/routines/${id}`, {
    webhookUrl: `${receiver.origin}/hook`,
    deliver: 'changed',
  });
  expect(await run(prices({ tea: 3 }))).toMatchObject({
    withheld: null,
    changes: { against: null, counts: { added: 1, removed: 0, changed: 0 } },
  });
});

test('another key of the items restarts the comparison, and other instructions do not', async ({ service, key }) => {
  const { id, mark, run } = await toldRoutine(service, key);
  const first = await run(prices({ tea: 3 }));
  await key.patch(`/v1/routines/${id}`, { instructions: `${mark} List them all.` });
  expect(await run(prices({ tea: 3 }))).toMatchObject({ changes: { against: first.id } });
  await key.patch(`/v1/routines/${id}`, { resultKey: { list: '/items', key: '/price' } });
  expect(await run(prices({ tea: 3 }))).toMatchObject({
    changes: { against: null, counts: { added: 1, removed: 0, changed: 0 } },
  });
});

test('the delivery policy is not material and counts from the next end of a run', async ({ service, key }) => {
  const { id, run } = await toldRoutine(service, key, { deliver: 'always' });
  await run(prices({ tea: 3 }));
  const { data } = await key.patch(`/v1/routines/${id}`, { deliver: 'changed' });
  expect(data).toMatchObject({ deliver: 'changed', revision: 1 });
  expect(await run(prices({ tea: 3 }))).toMatchObject({ withheld: 'no_change' });
});

test('data of a run whose content is erased is known by those that had the same', async ({ service, key }) => {
  const { run } = await toldRoutine(service, key);
  const first = await run(prices({ tea: 3 }));
  await run(prices({ tea: 3 }));
  await changeRuns(service.deps.database, first.id, {
    data: null,
    changes: null,
    contentErasedAt: AT_ONCE,
  });
  expect(await run(prices({ tea: 3 }))).toMatchObject({
    withheld: 'no_change',
    changes: { against: first.id, unchangedRuns: 2 },
  });
});

test('of runs that end together each is compared with the one before', async ({ service, key }) => {
  const { id, mark } = await toldRoutine(service, key);
  const count = 8;
  for (const text of Array<string>(count).fill(JSON.stringify(prices({ tea: 3 })))) {
    service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  }
  await Promise.all(Array.from({ length: count }, () => key.post(`/v1/routines/${id}/run`)));
  const ended = async () => {
    const { data } = await key.get(`/v1/routines/${id}/runs?state=succeeded`);
    return data;
  };
  await expect.poll(async () => (await ended()).length).toBe(count);
  const runs: Json[] = await ended();
  expect(runs.filter(({ withheld }) => withheld === null)).toHaveLength(1);
  expect(runs.map(({ changes }) => changes.unchangedRuns).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: count }, (_, index) => index),
  );
  expect(await queued(service, id)).toEqual(['run.changed']);
});

test('a follower of the run gets its data and its changes', async ({ service, key }) => {
  const { run } = await toldRoutine(service, key);
  const { id, data, changes } = await run(prices({ tea: 3 }));
  const stream = await openStream(`${service.url}/v1/runs/${id}/events`, key.headers);
  const last = (await stream.rest()).at(-1)!;
  expect(last.data).toMatchObject({ id, state: 'succeeded', data, changes, withheld: null });
});

test('a routine is compared with its own runs only', async ({ service, key, bobsKey, ada }) => {
  const mine = await toldRoutine(service, key);
  const bobs = await toldRoutine(service, bobsKey);
  await mine.run(prices({ tea: 3 }));
  // A row that claims the routine of another tenant is not read.
  await plantRun(service.deps.database, bobs.id, {
    id: 'run_7zzzzzzzzzzzzzzzzzzzzzzzzz',
    projectId: ada.projectId,
    state: 'succeeded',
    result: '',
    data: JSON.stringify(prices({ tea: 3 })),
    changes: '{"by":{"list":"/items","key":"/id"}}',
    finishedAt: AT_ONCE,
  });
  expect(await bobs.run(prices({ tea: 3 }))).toMatchObject({ changes: { against: null } });
});
