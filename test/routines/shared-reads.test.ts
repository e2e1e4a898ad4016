import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('reads that share a statement give each caller its own routine, and another tenant nothing', async () => {
  const one = await (await signUp(service)).key();
  const other = await (await signUp(service)).key();
  const ofOne = await Promise.all([createRoutine(one), createRoutine(one), createRoutine(one)]);
  const [ofOther] = await Promise.all([createRoutine(other)]);
  const reads = [
    ...ofOne.flatMap((id) => [
      { by: one, id, status: 200 },
      { by: other, id, status: 404 },
    ]),
    { by: other, id: ofOther, status: 200 },
    { by: one, id: ofOther, status: 404 },
    { by: one, id: newId('routine'), status: 404 },
  ];

  // Often enough that every mixture of them meets in a statement.
  const rounds = Array.from({ length: 8 }, () => reads).flat();
  const answers = await Promise.all(rounds.map(({ by, id }) => by.get(`/v1/routines/${id}`)));

  expect(answers.map(({ status }) => status)).toEqual(rounds.map(({ status }) => status));
  for (const [index, { id, status }] of rounds.entries()) {
    if (status === 200) expect(answers[index]?.data.id).toBe(id);
  }
});
