import { expect, onTestFinished, test } from 'vitest';
import { WATCH } from '#dev/stack/watch.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService } from '#test/support/service.ts';
import { workerProcesses } from '#test/support/worker-process.ts';

test('a worker that restarts on change, as by npm run dev, carries out runs', async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const workers = workerProcesses(service);
  onTestFinished(() => workers.close());
  const worker = await workers.start({}, { flags: WATCH });
  // End the watching process by a signal that it handles: a kill would leave its child running.
  onTestFinished(async () => {
    await worker.end('SIGTERM');
  });
  const key = await (await signUp(service)).key();
  const started = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  const run = await runEnded(key, started.data.id);
  expect(run).toMatchObject({ state: 'succeeded' });
  expect(worker.output()).not.toContain('Failed running');
});
