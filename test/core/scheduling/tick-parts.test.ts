import { expect } from 'vitest';
import { createTickParts } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { occurrencesOf, plantRoutine } from './planted.ts';
import { EVERY, ago, changeRuns, plantRun, plantRuns } from '#test/support/given.ts';

const test = serviceTest({ own: true });

test('a lost cancellation is repeated before anything else, however many runs are open', async ({ service }) => {
  const { database, engine } = service.deps;
  const { id } = await plantRoutine(database, {
    schedule: '@yearly',
    nextRunAt: new Date(Date.now() + 86_400_000),
  });
  const runs = await plantRuns(database, id, 500, {
    state: 'running',
    timeoutSeconds: 86_400,
    startedAt: AT_ONCE,
    workflowStartedAt: AT_ONCE,
    checkedAt: ago('1 hour'),
  });
  const lost = runs.at(-1)!;
  await changeRuns(database, lost, {
    checkedAt: ago('2 minutes'),
    cancelRequestedAt: ago('1 minute'),
  });
  const asked: string[] = [];
  const parts = createTickParts({
    ...service.deps,
    engine: {
      ...engine,
      cancelRun: async (runId) => void asked.push(`cancel ${runId}`),
      async workflowState(runId) {
        asked.push(`look at ${runId}`);
        return 'open';
      },
    },
  });
  await parts.sweep(new AbortController().signal);
  expect(asked.slice(0, 2)).toEqual([`cancel ${lost}`, `look at ${lost}`]);
  expect(asked).toHaveLength(202);

  const given = AbortSignal.abort(new Error('given up'));
  await changeRuns(database, EVERY, { checkedAt: ago('1 hour') });
  await expect(parts.sweep(given)).rejects.toThrow('given up');
  expect(asked).toHaveLength(202);
  const left = await database.row<{
    count: number;
  }>`select count(*) as count from runs where checked_at > now() - interval '1 minute'`;
  expect(left).toEqual({ count: 0 });
});

test('a part that was given up claims nothing more', async ({ service }) => {
  const { database } = service.deps;
  const { id } = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
  const parts = createTickParts(service.deps);
  await expect(parts.claim(AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
  expect(await occurrencesOf(database, id)).toEqual([]);
  await expect(parts.deliveries(AbortSignal.abort(new Error('given up')))).rejects.toThrow();
  expect(await parts.claim(new AbortController().signal)).toEqual({ runs: 1, skipped: 0 });
});

test('a run past its deadline is settled also while Temporal is away and a cancellation waits', async ({ service }) => {
  const { database, engine } = service.deps;
  const { id } = await plantRoutine(database, {
    schedule: '@yearly',
    nextRunAt: new Date(Date.now() + 86_400_000),
  });
  const anHour = ago('1 hour');
  const running = { state: 'running', admittedAt: anHour, workflowStartedAt: anHour } as const;
  const cancelled = { startedAt: ago('1 second'), cancelRequestedAt: ago('1 minute') };
  await plantRun(database, id, { ...running, ...cancelled });
  const overdue = await plantRun(database, id, { ...running, startedAt: anHour });
  const away = () => Promise.reject(new Error('Temporal is away'));
  const parts = createTickParts({
    ...service.deps,
    engine: { ...engine, cancelRun: away, workflowState: away, terminateRun: away },
  });
  await expect(parts.sweep(new AbortController().signal)).rejects.toThrow('Temporal is away');
  const settled = await database.row<{
    state: string;
    reason: string;
  }>`select state, reason from runs where id = ${overdue}`;
  expect(settled).toEqual({ state: 'failed', reason: 'workflow_lost' });
});
