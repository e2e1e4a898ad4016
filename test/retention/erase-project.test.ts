import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseProjectContent } from '#core/runs/index.ts';
import { claimAttempt } from '#core/webhooks/claim.ts';
import { recordAttempt } from '#core/webhooks/record.ts';
import { execute, row, sql, type Database } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { plantRoutine, type Planted } from '#test/scheduling/planted.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { plantDelivery, plantEndedRuns, remainsOf, retain } from './planted-runs.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  ({ database } = testDatabase);
});
afterAll(() => testDatabase.drop());

const signal = new AbortController().signal;

function plantProject(): Promise<Planted> {
  return plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
}

test('the content of a deleted project is erased at once, whoever wanted to keep it', async () => {
  const [project, other] = [await plantProject(), await plantProject()];
  const ids = await plantEndedRuns(database, project, { daysAgo: 0.01, count: 450 });
  await plantEndedRuns(database, other, { daysAgo: 30, count: 5 });
  await execute(database, sql`update runs set pinned = true where id = any(${ids.slice(0, 20)})`);
  await plantDelivery(database, ids[0]!, 'pending');
  await plantDelivery(database, ids[1]!, 'delivered');

  expect(await eraseProjectContent(database, project.projectId, signal)).toEqual({
    erased: 450,
    left: 0,
  });
  expect(await remainsOf(database, project.projectId)).toEqual({
    runs: 450,
    unerased: 0,
    texts: 0,
    steps: 450,
    bodies: 0,
    deliveries: 2,
    ledger: 450,
  });
  expect(await remainsOf(database, other.projectId)).toMatchObject({ unerased: 5, texts: 10 });
  expect(await eraseProjectContent(database, project.projectId, signal)).toEqual({
    erased: 0,
    left: 0,
  });
  await execute(
    database,
    sql`update runs set finished_at = now() - interval '401 days' where project_id = ${project.projectId}`,
  );
  expect(await retain(database)).toEqual({ erased: 0, deleted: 450 });
});

test('it says how many runs are still open, and erases them once they have ended', async () => {
  const project = await plantProject();
  const id = newId('run');
  await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
        timeout_seconds, prompt)
      values (${id}, ${project.organizationId}, ${project.projectId}, ${project.id}, 1, 'manual', 'running', 5, 60,
        'a prompt')
    `,
  );
  const erase = () => eraseProjectContent(database, project.projectId, signal);
  expect(await erase()).toEqual({ erased: 0, left: 1 });
  await execute(
    database,
    sql`update runs set state = 'cancelled', finished_at = now() - interval '1 second' where id = ${id}`,
  );
  expect(await erase()).toEqual({ erased: 1, left: 0 });
});

test('a response that arrives when the content is erased leaves nothing of itself', async () => {
  const project = await plantProject();
  const [runId = ''] = await plantEndedRuns(database, project, { daysAgo: 0.01 });
  const delivery = await plantDelivery(database, runId, 'pending');
  await execute(
    database,
    sql`update webhook_deliveries set next_attempt_at = now() - interval '1 second' where id = ${delivery}`,
  );
  const attempt = await claimAttempt(database, delivery);
  await eraseProjectContent(database, project.projectId, signal);
  const exchange = {
    status: 200,
    error: null,
    responseExcerpt: 'what the receiver says',
    durationMs: 1,
    retryAfterMs: undefined,
    interrupted: false,
  };
  await recordAttempt(database, attempt!, exchange, { state: 'delivered' });
  const found = await row(
    database,
    sql`
      select d.state, a.status, a.response_excerpt as excerpt
      from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id and a.index = 2
      where d.id = ${delivery}
    `,
  );
  expect(found).toEqual({ state: 'delivered', status: 200, excerpt: null });
});

test('it stops between two batches when it is given up, and goes on when it is called again', async () => {
  const project = await plantProject();
  await plantEndedRuns(database, project, { daysAgo: 0.01, count: 3 });
  const given = AbortSignal.abort(new Error('given up'));
  await expect(eraseProjectContent(database, project.projectId, given)).rejects.toThrow('given up');
  expect(await remainsOf(database, project.projectId)).toMatchObject({ unerased: 3 });
  expect(await eraseProjectContent(database, project.projectId, signal)).toMatchObject({ left: 0 });
});
