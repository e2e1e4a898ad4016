import { expect } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { eraseDeletedProjects } from '#core/upkeep/deletion/index.ts';
import { forgetExpired } from '#core/scheduling/index.ts';
import { newId } from '#lib/ids.ts';
import { AT_ONCE, type Database } from '#lib/database/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { plantEndedRuns, retain } from '#test/core/execution/retention/planted-runs.ts';
import { ago, changeProjects, changeRuns, plantDeliveries, plantSkills } from '#test/support/given.ts';

const test = serviceTest({ worker: true, own: true });

/** Makes a project with one word in every text that a person can write. */
async function writtenProject(service: Service) {
  const mark = `quetzal${newId('run').slice(-12)}`;
  const receiver = await startReceiver((_, response) => response.writeHead(204).end());
  const person = await signUp(service);
  const { session } = person;
  const skill = {
    name: `A ${mark} skill`,
    instructions: `Write in the manner of ${mark}, always.`,
  };
  const { data: kept } = await session.post('/v1/skills', skill);
  const { data: dropped } = await session.post('/v1/skills', skill);
  await session.delete(`/v1/skills/${dropped.id}`);
  for (const text of [`Ours is ${mark}.`, `Theirs is ${mark}.`, mark]) {
    await session.put(`/v1/projects/${person.projectId}/facts`, { text });
  }
  const id = await createRoutine(session, {
    facts: true,
    name: `Routine ${mark}`,
    instructions: `Write about ${mark} and {{topic}}.`,
    variables: { topic: mark },
    skills: [kept.id],
    webhookUrl: `${receiver.origin}/hook/${mark}`,
    checks: [{ type: 'result_does_not_match', pattern: `never-${mark}` }],
    gate: { url: `${receiver.origin}/gate/${mark}` },
    notifications: { successPingUrl: `${receiver.origin}/ping/${mark}` },
  });
  for (const instructions of [`Two about ${mark}.`, `Three about ${mark}.`]) {
    const patched = await session.patch(`/v1/routines/${id}`, { instructions });
    expect(patched.status).toBe(200);
  }
  const deleted = () => session.delete(`/v1/projects/${person.projectId}?confirm=Default`);
  return { ...person, id, mark, receiver, deleted };
}

async function eraseAll(database: Database, limit = 1_000): Promise<void> {
  while ((await eraseDeletedProjects(database, limit)) === limit);
}

/** Plants the delivery that a pause of the routine leaves. It names the routine and belongs to no run. */
function plantPause(database: Database, routineId: string, mark: string) {
  const pause = { eventType: 'routine.paused', body: mark, finishedAt: AT_ONCE };
  return plantDeliveries(database, routineId, pause);
}

/** Lists the tables in which a row still contains the word. */
async function tablesWith(database: Database, word: string): Promise<string[]> {
  const tables = await database.rows<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace
  `;
  const found: string[] = [];
  for (const { name } of tables) {
    const hit = await database.query(`select from "${name}" t where strpos(lower(t::text), $1) > 0 limit 1`, [word]);
    if (hit.rowCount === 1) found.push(name);
  }
  return found;
}

function versionsOf(database: Database, routineId: string): Promise<{ count: number } | undefined> {
  return database.row`select count(*)::integer as count from routine_versions where routine_id = ${routineId}`;
}

function erasedAt(database: Database, projectId: string): Promise<{ done: boolean } | undefined> {
  return database.row`select erased_at is not null as done from projects where id = ${projectId}`;
}

test('nothing that people wrote in a deleted project is left, in any table', async ({ service }) => {
  const { database } = service.deps;
  const { mark, receiver, session, id, deleted } = await writtenProject(service);
  expect((await runOnce(session, id)).state).toBe('succeeded');
  await expect.poll(() => receiver.received.map(({ path }) => path)).toContain(`/hook/${mark}`);
  const before = await tablesWith(database, mark);
  expect(before).toEqual(
    expect.arrayContaining(['routines', 'routine_versions', 'skills', 'project_facts', 'runs', 'steps']),
  );
  await plantPause(database, id, mark);
  expect((await deleted()).status).toBe(200);
  await retain(database);
  await eraseAll(database, 2);
  expect(await tablesWith(database, mark)).toEqual([]);
});

test('housekeeping erases it, and leaves every other project alone', async ({ service }) => {
  const { database } = service.deps;
  const [project, other] = [await writtenProject(service), await writtenProject(service)];
  await project.deleted();
  await forgetExpired(service.deps, new AbortController().signal);
  expect(await versionsOf(database, project.id)).toEqual({ count: 0 });
  expect(await versionsOf(database, other.id)).toEqual({ count: 3 });
  const { data } = await other.session.get(`/v1/routines/${other.id}`);
  expect(data).toMatchObject({
    name: `Routine ${other.mark}`,
    instructions: `Three about ${other.mark}.`,
    webhookUrl: expect.stringContaining(other.mark),
  });
  const { data: skills } = await other.session.get('/v1/skills');
  expect(skills.filter(({ name }: { name: string }) => name.includes(other.mark))).toHaveLength(1);
});

test('the version of a run under way stays until the run has ended', async ({ service }) => {
  const { database } = service.deps;
  const project = await writtenProject(service);
  const [runId = ''] = await plantEndedRuns(database, project, { daysAgo: 0 });
  await project.deleted();
  await changeRuns(database, runId, { state: 'running', finishedAt: null, admittedAt: AT_ONCE });
  await eraseAll(database);
  expect(await versionsOf(database, project.id)).toEqual({ count: 3 });
  await longDeleted(database, project.projectId);
  await eraseAll(database);
  expect(await erasedAt(database, project.projectId)).toEqual({ done: false });

  await changeRuns(database, runId, { state: 'cancelled', finishedAt: AT_ONCE });
  await eraseAll(database);
  expect(await versionsOf(database, project.id)).toEqual({ count: 0 });
  expect(await erasedAt(database, project.projectId)).toEqual({ done: true });
});

test('what a late request writes into a deleted project is erased too', async ({ service }) => {
  const { database } = service.deps;
  const project = await writtenProject(service);
  await project.deleted();
  await eraseAll(database);
  expect(await erasedAt(database, project.projectId)).toEqual({ done: false });
  const [late] = await plantSkills(database, project.projectId, 1);
  await longDeleted(database, project.projectId);
  await eraseAll(database);
  expect(await database.row`select id from skills where id = ${late}`).toBeUndefined();
  expect(await erasedAt(database, project.projectId)).toEqual({ done: true });
});

async function longDeleted(database: Database, projectId: string): Promise<void> {
  await changeProjects(database, projectId, { deletedAt: ago('2 hours') });
}
