import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { marker, requestsWith, routineWith, scriptCalls, toolSteps } from './support.ts';

let service: Service;
let hostile: HostileTools;
let key: ApiClient;
let workers: WorkerProcesses;

beforeAll(async () => {
  [service, hostile] = await Promise.all([startService(), startHostileTools()]);
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await workers?.close();
  await hostile?.stop();
  await service?.close();
});

async function startRun(tool: string, args: Record<string, unknown>) {
  const mark = marker();
  const { routineId } = await routineWith(key, [tool], {
    connection: { url: hostile.url('honest') },
    routine: { instructions: mark },
  });
  scriptCalls(service, mark, { name: tool, arguments: args });
  const { data } = await key.post(`/v1/routines/${routineId}/run`);
  return { runId: data.id as string, mark };
}

test('after a worker is killed in the middle of two calls, only the read-only one is made again', async () => {
  hostile.control.delayMs = 120_000;
  const first = await workers.start();
  const reading = await startRun('lookup', { query: 'x' });
  const sending = await startRun('send_message', { to: 'someone' });
  await expect.poll(() => hostile.control.calls.length).toBe(2);
  await first.end('SIGKILL');
  hostile.control.delayMs = 0;
  await workers.start();

  const read = await runEnded(key, reading.runId);
  const sent = await runEnded(key, sending.runId);
  expect(toolSteps(read)[0]).toMatchObject({ errorMessage: null, state: 'succeeded', attempt: 2 });
  expect(toolSteps(sent)[0]).toMatchObject({ state: 'outcome_unknown', attempt: 1 });
  expect([read.state, sent.state]).toEqual(['succeeded', 'succeeded']);
  const made = hostile.control.calls.map(({ name }) => name).toSorted();
  expect(made).toEqual(['lookup', 'lookup', 'send_message']);
  const told = requestsWith(service, sending.mark).at(-1).body.messages.at(-1).content;
  expect(told).toContain('unknown');
}, 240_000);
