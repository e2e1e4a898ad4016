import { expect } from 'vitest';
import { newId } from '#lib/ids.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { FORM, prices, typedRoutine } from './world.ts';

const test = serviceTest({ worker: true });

test('a run is compared with any other run of its routine', async ({ service, key }) => {
  const { run } = await typedRoutine(service, key);
  const first = await run(prices({ tea: 3, salt: 1 }));
  await run(prices({ tea: 3 }));
  const third = await run(prices({ tea: 4, rice: 2 }));
  const diff = `/v1/runs/${third.id}/diff`;
  const { data } = await key.get(`${diff}?against=${first.id}`);
  expect(data).toEqual({
    runId: third.id,
    against: first.id,
    by: FORM.resultKey,
    counts: { added: 1, removed: 1, changed: 1 },
    added: [{ id: 'rice', price: 2 }],
    removed: [{ id: 'salt', price: 1 }],
    changed: [{ key: 'tea', before: { id: 'tea', price: 3 }, after: { id: 'tea', price: 4 } }],
  });
  // In the other direction, added items are removed items.
  const { data: back } = await key.get(`/v1/runs/${first.id}/diff?against=${third.id}`);
  expect([back.added, back.removed]).toEqual([data.removed, data.added]);

  // Without `against`, the run is compared with the same earlier run as at its end.
  const { against, unchangedRuns: _, truncated: _truncated, ...changes } = third.changes;
  expect((await key.get(diff)).data).toEqual({ runId: third.id, against, ...changes });
  expect((await key.get(`/v1/runs/${first.id}/diff`)).data).toMatchObject({
    against: null,
    counts: { added: 2, removed: 0, changed: 0 },
  });
});

test('a diff has all items, of which the run keeps the first', async ({ service, key }) => {
  const { run } = await typedRoutine(service, key);
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`i${index}`, index]));
  const { id, changes } = await run(prices(many));
  expect(changes).toMatchObject({ counts: { added: 300 }, truncated: true });
  expect(changes.added).toHaveLength(100);
  expect((await key.get(`/v1/runs/${id}/diff`)).data.added).toEqual(prices(many).items);
});

test('what cannot be compared says why', async ({ service, key, bobsKey }) => {
  const routine = await typedRoutine(service, key);
  const other = await typedRoutine(service, key);
  const untyped = await typedRoutine(service, key, { resultSchema: null, resultKey: null });
  const run = await routine.run(prices({ tea: 3 }));
  const failed = await routine.run('No.', 'No.');
  const elsewhere = await other.run(prices({ tea: 3 }));
  const plain = await untyped.run('Text.');
  const codeOf = async (client: typeof key, path: string) => {
    const { status, body } = await client.get(path);
    return [status, body.error?.code ?? ''];
  };
  const diff = `/v1/runs/${run.id}/diff`;
  expect(await codeOf(key, `/v1/runs/${plain.id}/diff`)).toEqual([409, 'run_without_data']);
  expect(await codeOf(key, `/v1/runs/${failed.id}/diff`)).toEqual([409, 'run_without_data']);
  expect(await codeOf(key, `${diff}?against=${failed.id}`)).toEqual([409, 'run_without_data']);
  expect(await codeOf(key, `${diff}?against=${elsewhere.id}`)).toEqual([400, 'invalid_request']);
  expect(await codeOf(key, `${diff}?against=latest`)).toEqual([400, 'invalid_request']);
  expect(await codeOf(key, `${diff}?against=${newId('run')}`)).toEqual([404, 'run_not_found']);
  expect(await codeOf(key, `/v1/runs/${newId('run')}/diff`)).toEqual([404, 'run_not_found']);
  expect(await codeOf(bobsKey, diff)).toEqual([404, 'run_not_found']);
  const bobs = await typedRoutine(service, bobsKey);
  const ofBob = await bobs.run(prices({ tea: 3 }));
  expect(await codeOf(bobsKey, `/v1/runs/${ofBob.id}/diff?against=${run.id}`)).toEqual([404, 'run_not_found']);
});

test('data without items by the key of the run is refused with the reason', async ({ service, key }) => {
  const { id, run } = await typedRoutine(service, key, { resultKey: null });
  const first = await run(prices({ a: 1, b: 1 }));
  await key.patch(`/v1/routines/${id}`, { resultKey: { list: '/items', key: '/price' } });
  const second = await run(prices({ a: 1 }));
  const { status, body } = await key.get(`/v1/runs/${second.id}/diff?against=${first.id}`);
  expect([status, body.error.message]).toEqual([
    400,
    'against: resultKey: item 1 of the list at /items has the key of an earlier item',
  ]);
});
