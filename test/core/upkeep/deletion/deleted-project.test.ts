import { expect } from 'vitest';
import { claimAttempt, recordAttempt } from '#core/delivery/webhooks/attempt.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { plantDelivery, plantEndedRuns, remainsOf, retain } from '#test/core/execution/retention/planted-runs.ts';
import { ago, changeDeliveries, changeRuns } from '#test/support/given.ts';

const test = serviceTest({ worker: true, own: true });

/** Makes a person with a routine, in the form of planted routines. */
async function newProject(service: Service) {
  const person = await signUp(service);
  const key = await person.key();
  const id = await createRoutine(key);
  return { ...person, person, key, id };
}

async function deleteProject({ session, projectId }: Person): Promise<void> {
  const { status } = await session.delete(`/v1/projects/${projectId}?confirm=Default`);
  expect(status).toBe(200);
}

function pin({ database }: Service['deps'], ids: readonly string[]): Promise<void> {
  return changeRuns(database, ids, { pinned: true });
}

test('the next pass erases the content of a deleted project, also of pinned runs', async ({ service }) => {
  const { database } = service.deps;
  const [project, other] = [await newProject(service), await newProject(service)];
  const ids = await plantEndedRuns(database, project, { daysAgo: 0.01, count: 250 });
  await plantEndedRuns(database, other, { daysAgo: 30, count: 5 });
  await pin(service.deps, ids.slice(0, 20));
  await plantDelivery(database, ids[0]!, 'pending');
  await plantDelivery(database, ids[1]!, 'delivered');

  await deleteProject(project.person);
  expect(await retain(database)).toEqual({ erased: 250, deleted: 0 });
  expect(await remainsOf(database, project.projectId)).toEqual({
    runs: 250,
    unerased: 0,
    texts: 0,
    steps: 250,
    bodies: 0,
    deliveries: 2,
    ledger: 250,
  });
  expect(await remainsOf(database, other.projectId)).toMatchObject({ unerased: 5, texts: 10 });
  const { projectId } = project;
  await changeRuns(database, { projectId }, { finishedAt: ago('401 days') });
  expect(await retain(database)).toEqual({ erased: 0, deleted: 250 });
});

test('runs that were under way are erased once they have ended', async ({ service }) => {
  const { database } = service.deps;
  const project = await newProject(service);
  service.gateway.control.script({ behaviour: { kind: 'hang' } });
  const { data: run } = await project.key.post(`/v1/routines/${project.id}/run`);
  await expect.poll(async () => (await project.key.get(`/v1/runs/${run.id}`)).data.state).toBe('running');
  await deleteProject(project.person);
  const ended = () => database.row`select state from runs where id = ${run.id} and finished_at is not null`;
  await expect.poll(ended).toEqual({ state: 'cancelled' });
  await retain(database);
  expect(await remainsOf(database, project.projectId)).toMatchObject({
    runs: 1,
    unerased: 0,
    texts: 0,
  });
});

test('a response that arrives when the content is erased leaves nothing of itself', async ({ service }) => {
  const { database } = service.deps;
  const project = await newProject(service);
  const [runId = ''] = await plantEndedRuns(database, project, { daysAgo: 0.01 });
  const delivery = await plantDelivery(database, runId, 'pending');
  await changeDeliveries(database, delivery, { nextAttemptAt: ago('1 second') });
  const attempt = await claimAttempt(database, delivery);
  await deleteProject(project.person);
  await retain(database);
  const exchange = {
    status: 200,
    error: null,
    responseExcerpt: 'what the receiver says',
    durationMs: 1,
    retryAfterMs: undefined,
    interrupted: false,
  };
  await recordAttempt(database, attempt!, exchange, { state: 'delivered' });
  const found = await database.row`
    select d.state, a.status, a.response_excerpt as excerpt
    from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id and a.index = 2
    where d.id = ${delivery}
  `;
  expect(found).toEqual({ state: 'delivered', status: 200, excerpt: null });
});

test('no run is kept that a user pins while the project is deleted', async ({ service }) => {
  const { database } = service.deps;
  const project = await newProject(service);
  const ids = await plantEndedRuns(database, project, { daysAgo: 0.01, count: 40 });
  await pin(service.deps, ids.slice(0, 5));
  const pinAll = async () => {
    const pinned = await Promise.all(ids.map((id) => project.key.patch(`/v1/runs/${id}`, { pinned: true })));
    return pinned.map(({ status }) => status);
  };
  const [statuses] = await Promise.all([pinAll(), deleteProject(project.person)]);
  for (const status of statuses) expect([200, 401, 404]).toContain(status);
  await retain(database);
  expect(await remainsOf(database, project.projectId)).toMatchObject({ runs: 40, unerased: 0 });
});
