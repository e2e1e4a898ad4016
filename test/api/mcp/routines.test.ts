import { expect } from 'vitest';
import { USER_AGENT } from '#lib/outbound/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';
import { assistantOf, dataOf } from './support.ts';

const test = serviceTest({ env: { MCP_FROM_ROUTINES: 'true' } });

test('a routine that may call the service reads it, and starts and changes nothing', async ({ key }) => {
  const routineId = await createRoutine(key);
  const routine = await assistantOf(key.with({ 'User-Agent': USER_AGENT }));
  const { tools } = await routine.client.listTools();
  expect(tools.map(({ name }) => name)).toContain('read_run');
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toStrictEqual([]);
  expect(dataOf(await routine.call('read_routine', { routineId })).state).toBe('draft');
  for (const name of ['run_routine', 'archive_routine', 'update_routine']) {
    const refused = await routine.call(name, { routineId });
    expect(refused, name).toMatchObject({ isError: true });
    expect(refused.text).toMatch(/^forbidden: A routine may only read this service/);
  }
  await routine.close();
});
