import { expect, vi } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';

/** A service of the file's own, because other files' work on a shared service would be counted too. */
const test = serviceTest({ own: true, worker: true });

test('a hot read makes no more statements than it needs, that of authentication included', async ({ service, key }) => {
  const draft = await createRoutine(key, { schedule: '@yearly' });
  const active = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${active}/run`);
  await runEnded(key, run.id);
  expect((await key.post(`/v1/routines/${active}/activate`)).status).toBe(200);
  const counts: Record<string, number> = {
    [`/v1/routines/${draft}`]: 2,
    [`/v1/routines/${active}`]: 2,
    '/v1/routines': 2,
    [`/v1/routines/${active}/runs`]: 3,
    '/v1/runs': 2,
    '/v1/results': 2,
    // No personal account is connected, and the lists of sources are in memory.
    '/v1/models': 1,
    [`/v1/runs/${run.id}`]: 5,
    '/v1/attention': 9,
  };
  const found: Record<string, number> = {};
  for (const path of Object.keys(counts)) found[path] = await statementsOf(service, () => key.get(path));
  expect(found).toEqual(counts);
});

/** Counts the API's statements for the second of two requests: the first fills the memory. */
async function statementsOf({ deps }: Service, ask: () => Promise<{ status: number }>): Promise<number> {
  expect((await ask()).status).toBe(200);
  const query = vi.spyOn(deps.database, 'query');
  await ask();
  const count = query.mock.calls.length;
  query.mockRestore();
  return count;
}
