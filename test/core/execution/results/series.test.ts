import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { prices, typedRoutine } from './world.ts';

const test = serviceTest({ worker: true });

test('a series has the number of each item over all runs, and a gap where a run has no such item', async ({
  service,
  ada,
}) => {
  const key = await ada.key();
  const routine = await typedRoutine(service, key);
  const first = await routine.run(prices({ a: 10, b: 5 }));
  const second = await routine.run(prices({ a: 12 }));
  const third = await routine.run('{"items":[{"id":"a","price":12.50000000000000000001},{"id":"c","price":1}]}');
  const path = `/v1/routines/${routine.id}/series`;

  const { status, data, body } = await key.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(data).toMatchObject({
    by: { list: '/items', key: '/id' },
    field: 'price',
    fields: ['price'],
    truncated: false,
  });
  expect(data.runs.map(({ runId }: { runId: string }) => runId)).toEqual([first.id, second.id, third.id]);
  const values = Object.fromEntries(
    data.items.map((item: { key: string; values: unknown[] }) => [item.key, item.values]),
  );
  expect(values).toEqual({ a: [10, 12, expect.anything()], b: [5, null, null], c: [null, null, 1] });
  expect(JSON.stringify(values['a'])).toContain('12.5');

  const earlier = await key.get(`${path}?upTo=${second.id}&limit=1`);
  expect(earlier.data).toMatchObject({ runs: [{ runId: second.id }], items: [{ key: 'a', values: [12] }] });
  const only = await key.get(`${path}?key=b`);
  expect(only.data.items).toEqual([{ key: 'b', values: [5, null, null] }]);
  const unknown = await key.get(`${path}?field=weight`);
  expect(unknown.data).toMatchObject({ field: 'weight', fields: ['price'], items: [] });
});

test('data without a key is one item of its own numbers; text has none', async ({ service, ada }) => {
  const key = await ada.key();
  const typed = await typedRoutine(service, key, {
    resultSchema: { type: 'object' },
    resultKey: null,
  });
  await typed.run({ visits: 3, page: 'home' });
  await typed.run({ visits: 4, page: 'home' });
  const { data } = await key.get(`/v1/routines/${typed.id}/series`);
  expect(data).toMatchObject({ by: null, fields: ['visits'], items: [{ key: null, values: [3, 4] }] });

  const text = await typedRoutine(service, key, { resultSchema: null, resultKey: null });
  await text.run('All is calm.');
  expect((await key.get(`/v1/routines/${text.id}/series`)).data).toEqual({
    by: null,
    fields: [],
    field: null,
    runs: [],
    items: [],
    truncated: false,
  });
});

test('runs that were matched by another key are left out', async ({ service, ada }) => {
  const key = await ada.key();
  const routine = await typedRoutine(service, key);
  await routine.run(prices({ a: 10 }));
  const { status } = await key.patch(`/v1/routines/${routine.id}`, {
    resultKey: { list: '/items', key: '/price' },
  });
  expect(status).toBe(200);
  const { id } = await routine.run({ items: [{ id: 'a', price: 7 }] });
  const { data } = await key.get(`/v1/routines/${routine.id}/series`);
  expect(data).toMatchObject({ by: { key: '/price' }, fields: [], runs: [{ runId: id }], items: [] });
});

test("a series is of one's own project", async ({ service, ada, bob }) => {
  const routine = await typedRoutine(service, await ada.key());
  await routine.run(prices({ a: 10 }));
  const { status } = await (await bob.key()).get(`/v1/routines/${routine.id}/series`);
  expect(status).toBe(404);
});
