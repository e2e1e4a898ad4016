import { afterAll, expect, test } from 'vitest';
import { routes } from '#api/routes.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { pathFor } from '#test/support/operations.ts';

const services: Service[] = [];
afterAll(() => Promise.all(services.map((service) => service.close())));

async function onPlan(plan: string) {
  const service = await startService({
    env: { BILLING_DEFAULT_PLAN: plan },
  });
  services.push(service);
  const person = await signUp(service);
  return { person, key: await person.key() };
}

test.each(['free', 'starter'])(
  'on %s an API key reads and may not write, and a session may write',
  proves('auth.plan-rule', 'auth.session-plan', '402 plan or billing'),
  async (plan) => {
    const { person, key } = await onPlan(plan);
    for (const { spec } of routes.filter(({ spec }) => spec.auth === 'key-or-session')) {
      const answer = await key.send(spec.method, pathFor(spec));
      if (spec.method === 'GET') expect([spec.id, answer.status]).not.toEqual([spec.id, 402]);
      else {
        expect([spec.id, answer.status, answer.body.error.code]).toEqual([spec.id, 402, 'plan_write_required']);
        expect(answer.body.error.message).toMatch(
          new RegExp(`^On the ${plan} plan, whose period ends at \\d{4}-\\d\\d-01T.*: pro, scale\\.$`),
        );
      }
    }
    expect((await key.get('/v1/routines')).status).toBe(200);
    await createRoutine(person.session);
  },
);

test.each(['pro', 'scale'])('on %s an API key writes', proves('auth.plan-rule'), async (plan) => {
  const { key } = await onPlan(plan);
  await createRoutine(key);
});
