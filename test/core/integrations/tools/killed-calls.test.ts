import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import type { ApiClient } from '#test/support/client.ts';
import { startNode, type NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { marker, routineWith, scriptCalls, toolSteps } from './support.ts';

let service: Service;
let workers: WorkerProcesses;
let worker: NodeProcess;
let orders: NodeProcess;
let key: ApiClient;
let folder: string;
let port: number;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
  folder = await mkdtemp(path.join(tmpdir(), 'orders-'));
  writeFileSync(ledger(), '');
  port = await freePort();
  [worker, orders] = await Promise.all([workers.start(), startOrders()]);
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

async function startOrders(): Promise<NodeProcess> {
  const started = startNode(
    'test/core/integrations/tools/fixtures/order-server.ts',
    {},
    { args: [String(port), ledger()] },
  );
  await started.until('listening');
  return started;
}

/**
 * The process to kill, and the state of the call at that moment. On each change, only the second is tested; another
 * worker is killed in `faults/worker-kill`.
 */
const KILLS = [
  { victim: 'worker', moment: 'acted' },
  { victim: 'tool server', moment: 'acted' },
  { victim: 'tool server', moment: 'arrived' },
  { victim: 'worker', moment: 'arrived' },
  { victim: 'tool server', moment: 'answered' },
  { victim: 'worker', moment: 'answered' },
] as const;

const CASES = Array.from({ length: FULL_SIZE ? 30 : 2 }, (_, index) => ({
  order: `order-${index}`,
  ...KILLS[index % KILLS.length]!,
})).slice(FULL_SIZE ? 0 : 1);

test.for(CASES)(
  '$order, whose $victim is killed when the call has $moment, is placed once or unknown',
  async (each) => {
    const { order, victim, moment } = each;
    const mark = marker();
    const { routineId } = await routineWith(key, ['place_order'], {
      connection: { url: `http://127.0.0.1:${port}/mcp` },
      routine: { instructions: mark },
    });
    scriptCalls(service, mark, { name: 'place_order', arguments: { order } });
    const { data } = await key.post(`/v1/routines/${routineId}/run`);
    await orders.until(`${moment} ${order}`);
    if (victim === 'worker') {
      await worker.end('SIGKILL');
      worker = await workers.start();
    } else {
      await orders.end('SIGKILL');
      orders = await startOrders();
    }

    const run = await runEnded(key, data.id);
    const [step] = toolSteps(run);
    const placed = readFileSync(ledger(), 'utf8')
      .split('\n')
      .filter((line) => line === order).length;
    expect(run.state).toBe('succeeded');
    expect(placed).toBeLessThanOrEqual(1);
    expect(['succeeded', 'outcome_unknown']).toContain(step.state);
    if (step.state === 'succeeded') expect(placed).toBe(1);
    // Only an answer that was sent before the kill can have been stored.
    if (moment !== 'answered') expect(step.state).toBe('outcome_unknown');
  },
);
