import { expect } from 'vitest';
import { ago, changeDigests, changeRoutines, changeRuns, plantActiveRoutines, plantRun } from '#test/support/given.ts';
import { newId } from '#lib/ids.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';

type Reached = Pick<Service, 'deps'>;

/** Chooses the times of a digest, by default each morning. */
export async function choose(person: Person, patch: object = { frequency: 'daily' }) {
  const { status, data, body } = await person.session.patch(digestOf(person), patch);
  expect(status, JSON.stringify(body)).toBe(200);
  return data;
}

export function digestOf({ projectId }: Pick<Person, 'projectId'>): string {
  return `/v1/projects/${projectId}/digest`;
}

/** Makes a digest due, with all results of two days, as if the last digest had an earlier date. */
export async function fallDueOnce({ deps }: Reached, { userId, projectId }: Person) {
  await changeDigests(
    deps.database,
    { userId, projectId },
    { nextAt: ago('1 minute'), coveredUntil: ago('2 days'), lastDate: null },
  );
}

/** Makes another project of a person, and returns the person with this project. */
export async function projectOf(person: Person, name: string): Promise<Person> {
  const { organizationId } = person;
  const { status, data, body } = await person.session.post('/v1/projects', {
    organizationId,
    name,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return { ...person, projectId: data.id };
}

/** Makes a routine with this name in the person's project. */
export async function routineOf({ deps }: Reached, { projectId }: Person, name: string) {
  const id = newId('routine');
  await plantActiveRoutines(deps.database, projectId, [id], { nextRunAt: null });
  await changeRoutines(deps.database, id, { name });
  return id;
}

/** Plants a run that ended some minutes ago, by default with a text. */
export async function ended(
  { deps }: Reached,
  routineId: string,
  { minutes = 10, outcome, ...fields }: Parameters<typeof plantRun>[2] & { minutes?: number; outcome?: string } = {},
) {
  const id = await plantRun(deps.database, routineId, {
    state: 'succeeded',
    trigger: 'schedule',
    startedAt: ago(`${minutes + 1} minutes`),
    finishedAt: ago(`${minutes} minutes`),
    ...fields,
  });
  if (outcome !== undefined) await changeRuns(deps.database, id, { outcome });
  return id;
}
