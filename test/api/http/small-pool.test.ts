import { expect } from 'vitest';
import { routes } from '#api/routes.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { pathFor } from '#test/support/operations.ts';
import { FULL_SIZE, oneOfEach } from '#test/support/properties.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';

/** Number of simultaneous calls, many times the connections of a pool of two. */
const AT_ONCE = FULL_SIZE ? 50 : 12;

const test = serviceTest({ env: { DATABASE_POOL_SIZE: '2' } });

/** Bodies with which an operation does its work, including its transaction. The other operations need no body. */
const BODIES: Readonly<Record<string, (index: number) => unknown>> = {
  createSkill: (index) => ({ name: `skill ${index}`, instructions: 'x'.repeat(20) }),
  createRoutine: (index) => routineBody({ name: `routine ${index}`, webhookUrl: 'http://127.0.0.1:4999/' }),
  updateRoutine: (index) => ({ name: `name ${index}`, webhookUrl: 'http://127.0.0.1:4999/' }),
  pauseRoutine: () => ({}),
  rotateWebhookSecret: () => ({ force: true }),
  runRoutine: () => ({}),
  createApiKey: (index) => ({ name: `key ${index}` }),
  createOrganization: (index) => ({ name: `organization ${index}` }),
};

/** Returns the operations to call. On each change these are a read and a write of each subject, and all in `BODIES`. */
function called() {
  const declared = routes.map(({ spec }) => spec).filter(({ id }) => id !== 'schedulerTick');
  return oneOfEach(declared, ({ id, tag, method }) => (id in BODIES ? id : [tag, method === 'GET']));
}

test.for(called().map((spec) => [spec.id, spec] as const))(
  'many calls of %s at once on two connections all get an answer',
  async ([_id, spec], { ada, key }) => {
    const session = ada.session.with({ 'X-Project-Id': ada.projectId });
    const client = spec.auth === 'key-or-session' ? key : session;
    const routineId = await createRoutine(key, { webhookUrl: 'http://127.0.0.1:4999/' });
    const path = pathFor(spec).replace(/rtn_\w+/, routineId);
    const body = BODIES[spec.id];
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => client.send(spec.method, path, body?.(index))),
    );
    const bad = answers.filter(({ status }) => status >= 500).map(({ status, body }) => [status, body]);
    expect(bad).toEqual([]);
    if (body !== undefined) {
      const statuses = [...new Set(answers.map(({ status }) => status))];
      expect([spec.id, statuses]).toEqual([spec.id, [spec.success.status]]);
    }
  },
);

test('people who sign up at once on two connections get an account or are asked to come back', async ({ service }) => {
  // The library keeps a connection while it hashes a password, so on a busy machine some calls get none in time.
  const signUpOnce = (index: number) =>
    service.anonymous
      .with({ Origin: service.config.UI_ORIGIN, 'X-Forwarded-For': `198.51.100.${index}` })
      .post('/auth/sign-up/email', {
        email: `many-${index}@example.com`,
        password: 'correct-horse-battery',
        name: 'One of many',
      });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => signUpOnce(index)));
  for (const { status, headers } of answers) {
    expect([200, 503]).toContain(status);
    expect(headers.get('retry-after')).toBe(status === 503 ? '5' : null);
  }
  expect((await signUp(service)).projectId).toMatch(/^prj_/);
});
