import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AT_ONCE } from '#lib/database/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import type { ApiClient } from '#test/support/client.ts';
import { changeActions, ifAny } from '#test/support/given.ts';
import { startNode, type NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE, PATIENCE_MS } from '#test/support/properties.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { actionsOf, approve, holdingRoutine, runAsking, ticked } from '../core/execution/actions/support.ts';

let service: Service;
let workers: WorkerProcesses;
let worker: NodeProcess;
let orders: NodeProcess;
let client: ApiClient;
let folder: string;
let url: string;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  const person = await signUp(service);
  client = person.session.with({ 'X-Project-Id': person.projectId });
  folder = await mkdtemp(path.join(tmpdir(), 'orders-'));
  writeFileSync(ledger(), '');
  const port = await freePort();
  url = `http://127.0.0.1:${port}/mcp`;
  const server = 'test/core/integrations/tools/fixtures/order-server.ts';
  orders = startNode(server, {}, { args: [String(port), ledger()] });
  [worker] = await Promise.all([workers.start(), orders.until('listening')]);
});
afterAll(async () => {
  await orders?.end('SIGKILL');
  await workers?.close();
  await service?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

function ledger(): string {
  return path.join(folder, 'ledger');
}

/** State of the approved call when its worker is killed. On each change, only the first is tested. */
const MOMENTS = ['arrived', 'approved', 'answered'] as const;
const CASES = Array.from({ length: FULL_SIZE ? 30 : 1 }, (_, index) => ({
  order: `order-${index}`,
  moment: MOMENTS[index % MOMENTS.length]!,
}));

test.for(CASES)('$order, whose worker is killed when the call has $moment, is placed once or unknown', async (each) => {
  const { order, moment } = each;
  const routine = await holdingRoutine(client, ['place_order'], { url });
  await runAsking({ service, client }, routine, { name: 'place_order', arguments: { order } });
  const [action] = await actionsOf(client, `routineId=${routine.routineId}`);
  expect((await approve(client, action)).status).toBe(200);
  if (moment !== 'approved') await orders.until(`${moment} ${order}`);
  await worker.end('SIGKILL');
  worker = await workers.start();

  const ended = async () => {
    // The wait for a lost workflow has passed, and a tick looks for it.
    await changeActions(service.deps.database, ifAny({ id: action.id, state: 'approved' }), { startAt: AT_ONCE });
    await ticked(service);
    return (await client.get(`/v1/actions/${action.id}`)).data.state;
  };
  await expect.poll(ended, { timeout: PATIENCE_MS, interval: 500 }).toMatch(/^(?:done|outcome_unknown)$/);
  const placed = () =>
    readFileSync(ledger(), 'utf8')
      .split('\n')
      .filter((line) => line === order).length;
  const state = await ended();
  expect(placed()).toBeLessThanOrEqual(1);
  if (state === 'done') expect(placed()).toBe(1);
  if (moment === 'arrived') expect(state).toBe('outcome_unknown');
  expect((await approve(client, action)).data.state).toBe(state);
});
