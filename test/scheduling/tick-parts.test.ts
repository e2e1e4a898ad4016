import { expect } from 'vitest';
import { createTickParts } from '#core/scheduling/index.ts';
import { execute, row, sql } from '#lib/database/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { occurrencesOf, plantRoutine } from './planted.ts';

const test = serviceTest();

test('a lost cancellation is repeated before anything else, however many runs are open', async ({
  service,
}) => {
  const { database, engine } = service.deps;
  const { id, projectId } = await plantRoutine(database, {
    schedule: '@yearly',
    nextRunAt: new Date(Date.now() + 86_400_000),
  });
  await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
        timeout_seconds, started_at, workflow_started_at, checked_at, cancel_requested_at)
      select 'run_' || lpad(n::text, 26, '0'), organization_id, id, ${id}, 1, 'manual', 'running', 1, 86400, now(), now(),
        now() - interval '1 hour' + case when n = 500 then interval '58 minutes' else interval '0' end,
        case when n = 500 then now() - interval '1 minute' end
      from generate_series(1, 500) n, projects where id = ${projectId}
    `,
  );
  const asked: string[] = [];
  const parts = createTickParts({
    ...service.deps,
    engine: {
      ...engine,
      cancelRun: async (runId) => void asked.push(`cancel ${runId.slice(-3)}`),
      async workflowState(runId) {
        asked.push(`look at ${runId.slice(-3)}`);
        return 'open';
      },
    },
  });
  await parts.sweep(new AbortController().signal);
  expect(asked.slice(0, 2)).toEqual(['cancel 500', 'look at 500']);
  expect(asked).toHaveLength(202);

  const given = AbortSignal.abort(new Error('given up'));
  await execute(database, sql`update runs set checked_at = now() - interval '1 hour'`);
  await expect(parts.sweep(given)).rejects.toThrow('given up');
  expect(asked).toHaveLength(202);
  const left = await row<{ count: number }>(
    database,
    sql`select count(*) as count from runs where checked_at > now() - interval '1 minute'`,
  );
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

test('a run past its deadline is settled also while Temporal is away and a cancellation waits', async ({
  service,
}) => {
  const { database, engine } = service.deps;
  const { id, projectId } = await plantRoutine(database, {
    schedule: '@yearly',
    nextRunAt: new Date(Date.now() + 86_400_000),
  });
  await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
        timeout_seconds, admitted_at, started_at, workflow_started_at, cancel_requested_at)
      select 'run_' || run.name || repeat('0', 18), organization_id, id, ${id}, 1, 'manual', 'running', 1, 60,
        now() - interval '1 hour', now() - age, now() - interval '1 hour', cancelled
      from projects, (values ('awaiting', interval '1 second', now() - interval '1 minute'),
        ('overdue0', interval '1 hour', null)) as run (name, age, cancelled)
      where id = ${projectId}
    `,
  );
  const away = () => Promise.reject(new Error('Temporal is away'));
  const parts = createTickParts({
    ...service.deps,
    engine: { ...engine, cancelRun: away, workflowState: away, terminateRun: away },
  });
  await expect(parts.sweep(new AbortController().signal)).rejects.toThrow('Temporal is away');
  const overdue = await row<{ state: string; reason: string }>(
    database,
    sql`select state, reason from runs where id like 'run_overdue%'`,
  );
  expect(overdue).toEqual({ state: 'failed', reason: 'workflow_lost' });
});
