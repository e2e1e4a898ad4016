import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { plantRuns } from '#test/support/given.ts';
import type { ApiClient } from '#test/support/client.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { marker, type Json } from '#test/core/integrations/tools/support.ts';

const test = serviceTest({ worker: true });

const LISTS = [
  ['/v1/runs', 'id'],
  ['/v1/results', 'runId'],
] as const;

/** Returns the ids that each list finds. */
async function found(key: ApiClient, q: string): Promise<unknown[]> {
  const lists: unknown[] = [];
  for (const [path, id] of LISTS) {
    const { status, data, body } = await key.get(`${path}?q=${encodeURIComponent(q)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    lists.push((data as Json[]).map((each) => each[id]));
  }
  return lists;
}

test('runs and results are found by what they say, in upper or lower case, and by their routine', async ({
  service,
  ada,
}) => {
  const key = await ada.key();
  const mark = marker();
  const id = await createRoutine(key, { name: 'Harbour 100% watch', instructions: `Look. ${mark}` });
  const says = (text: string) => service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  says('Three Ships of ÉTOILE came.');
  const ships = await runOnce(key, id);
  says('A storm.');
  const storm = await runOnce(key, id);
  expect(await found(key, 'three ships')).toEqual([[ships.id], [ships.id]]);
  expect(await found(key, 'étoile')).toEqual([[ships.id], [ships.id]]);
  expect(await found(key, 'HARBOUR 100%')).toEqual([
    [storm.id, ships.id],
    [storm.id, ships.id],
  ]);
  // A wildcard of SQL matches only itself.
  expect(await found(key, 'th%ships')).toEqual([[], []]);
  expect((await key.get('/v1/routines?q=BOUR%20100%25')).data).toMatchObject([{ id }]);
  expect((await key.get('/v1/routines?q=a_bour')).data).toEqual([]);
  expect((await key.get('/v1/runs?q=%20')).status).toBe(400);
});

test('the runs of one routine can be searched, and a search finds no runs of another project', async ({
  service,
  ada,
  bob,
}) => {
  const key = await ada.key();
  const [mine, other] = [await createRoutine(key), await createRoutine(key)];
  const word = marker();
  for (const id of [mine, other]) {
    await plantRuns(service.deps.database, id, 2, { state: 'succeeded', result: `It says ${word}.` });
  }
  const count = async (path: string) => ((await key.get(path)).data as Json[]).length;
  expect(await count(`/v1/runs?q=${word}`)).toBe(4);
  expect(await count(`/v1/runs?q=${word}&routineId=${mine}`)).toBe(2);
  expect(await count(`/v1/routines/${mine}/runs?q=${word}`)).toBe(2);
  expect(await count(`/v1/runs?q=${word}&state=failed`)).toBe(0);
  expect(await found(await bob.key(), word)).toEqual([[], []]);
});

test('a search goes on page by page to a run that a thousand others hide', async ({ service, ada }) => {
  const key = await ada.key();
  const id = await createRoutine(key);
  const word = marker();
  await plantRuns(service.deps.database, id, 1, { state: 'succeeded', result: `It says ${word}.` });
  await plantRuns(service.deps.database, id, 1_100, { state: 'succeeded', result: 'Nothing.' });
  const first = await key.get(`/v1/runs?q=${word}`);
  expect(first.data).toEqual([]);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
  const { pathname, search } = new URL(next!);
  expect((await key.get(`${pathname}${search}`)).data).toHaveLength(1);
});
