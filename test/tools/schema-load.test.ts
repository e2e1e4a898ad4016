import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/hostile-tools/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { discovered, policyPath, type Json } from './support.ts';

let service: Service;
let hostile: HostileTools;
let key: ApiClient;

beforeAll(async () => {
  [service, hostile] = await Promise.all([startService(), startHostileTools()]);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await hostile?.stop();
  await service?.close();
});

/** Schemas that no two requests share: each takes a good part of a second to compile. */
function unions(count: number, name: string): Json {
  const union = { anyOf: [{ type: 'string' }, { type: 'number' }] };
  const properties = Array.from({ length: count }, (_, index) => [`${name}${index}`, union]);
  return { properties: Object.fromEntries(properties) };
}

/**
 * The slowest answer of `/health` while the work is under way, in processor time of this thread, which also serves the
 * API: the clock would count what other processes take.
 */
async function slowestHealthMs(work: Promise<unknown>): Promise<number> {
  const times: number[] = [];
  const ended = work.then(() => 'ended');
  const next = async () => {
    const before = process.threadCpuUsage();
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
    return 'answered';
  };
  while ((await Promise.race([ended, next()])) === 'answered');
  return Math.max(...times);
}

test.each([
  ['just within the limit', 600, 200],
  ['beyond the limit', 1_150, 400],
])(
  'health answers at once while 30 requests bring argument schemas %s',
  async (_, count, status) => {
    const { routineId, tools } = await discovered(key, { url: hostile.url('honest') });
    const path = policyPath(routineId, tools[0]);
    const requests = Array.from({ length: 30 }, (_item, index) =>
      key.patch(path, { argumentSchema: unions(count, `p${index}x`) }),
    );
    const slowest = await slowestHealthMs(Promise.all(requests));
    const statuses = (await Promise.all(requests)).map((answer) => answer.status);
    expect(new Set(statuses)).toEqual(new Set([status]));
    // Compiled on the event loop, they would hold it up for half a minute.
    expect(slowest).toBeLessThan(500);
  },
  120_000,
);

test('a schema is not compiled for a policy that does not exist', async () => {
  const { routineId, tools } = await discovered(key, { url: hostile.url('honest') });
  const foreign = policyPath(routineId, { id: tools[0].id.replace(/.$/, '0') });
  const { status, body } = await key.patch(foreign, { argumentSchema: { type: 'nonsense' } });
  expect([status, body.error.code]).toEqual([404, 'policy_not_found']);
});
