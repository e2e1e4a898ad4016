import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { workerProcesses } from '#test/support/worker-process.ts';
import { marker, requestsWith } from '#test/core/integrations/tools/support.ts';

const test = serviceTest({ own: true });

test('a run that waits for a budget continues on another worker when its own is killed', async ({
  service,
  key,
  ada,
}) => {
  const setBudget = (maxTokensPerDay: number) =>
    ada.session.patch(`/v1/projects/${ada.projectId}`, { budget: { maxTokensPerDay } });
  await setBudget(12_000);
  const workers = workerProcesses(service);
  try {
    const first = await workers.start();
    const limits = { maxOutputTokens: 10_000 };
    const [holding, waiting] = [marker(), marker()];
    const held = await createRoutine(key, { instructions: holding, limits });
    const id = await createRoutine(key, { instructions: waiting, limits });
    service.gateway.control.hold({ marker: holding });
    await key.post(`/v1/routines/${held}/run`);
    await expect.poll(() => requestsWith(service, holding)).toHaveLength(1);
    const { data: run } = await key.post(`/v1/routines/${id}/run`);
    const waitingFor = async () => (await key.get(`/v1/runs/${run.id}`)).data.waitingFor as string;
    await expect.poll(waitingFor).toBe('budget');

    await first.end('SIGKILL');
    // The reservation of the killed worker remains until its call is over.
    await setBudget(100_000);
    await workers.start();
    const ended = await runEnded(key, run.id);
    expect(ended).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
    expect(requestsWith(service, waiting)).toHaveLength(1);
  } finally {
    await workers.close();
  }
});
