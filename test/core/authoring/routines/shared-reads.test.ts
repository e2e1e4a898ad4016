import { expect } from 'vitest';
import { readRoutine } from '#core/authoring/routines/index.ts';
import { newId } from '#lib/ids.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';

const test = serviceTest();

test('reads that share a statement give each caller its own routine, and another tenant nothing', async ({
  service,
}) => {
  const [one, other] = [await signUp(service), await signUp(service)];
  const [oneKey, otherKey] = [await one.key(), await other.key()];
  const ofOne = [await createRoutine(oneKey), await createRoutine(oneKey)];
  const ofOther = await createRoutine(otherKey);
  const read = (projectId: string, id: string) =>
    readRoutine(service.deps.database, projectId, id).then(
      (routine) => routine.id,
      (error: { code: string }) => error.code,
    );

  // Reads in one turn of the event loop share one statement.
  const answers = await Promise.all([
    ...ofOne.map((id) => read(one.projectId, id)),
    ...ofOne.map((id) => read(other.projectId, id)),
    read(other.projectId, ofOther),
    read(one.projectId, ofOther),
    read(one.projectId, newId('routine')),
    ...ofOne.map((id) => read(one.projectId, id)),
  ]);

  const missing = 'routine_not_found';
  expect(answers).toEqual([...ofOne, missing, missing, ofOther, missing, missing, ...ofOne]);
});
