import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { terminal } from './terminal.ts';

const test = serviceTest();

/** Signs in at a terminal while a person approves or denies the code. */
async function signIn(service: Service, person: Person, step: 'approve' | 'deny', body: object) {
  const user = await terminal();
  let words = '';
  const answer = async () => {
    const code = /user_code=([A-Z-]+)/.exec(words)?.[1];
    const project = person.session.with({ 'X-Project-Id': person.projectId });
    const { status } = await project.post(`/v1/terminal-sign-ins/${code}/${step}`, body);
    expect(status).toBe(200);
  };
  const outcome = await user.run(['login', '--api-url', service.url], {
    onWords: (all) => (words = all),
    whilePaused: answer,
  });
  return { user, outcome };
}

test('a person approves a terminal, which then acts in their project with what they chose', async ({
  service,
  ada,
}) => {
  const { user, outcome } = await signIn(service, ada, 'approve', {
    scopes: ['routines:read', 'runs:read'],
  });
  expect(outcome).toMatchObject({
    code: 0,
    json: { projectId: ada.projectId, scopes: ['routines:read', 'runs:read'] },
  });
  expect(user.pauses).toEqual([5_000]);
  expect(await user.run(['routines', 'list'])).toMatchObject({ code: 0, json: [] });
  expect(await user.run(['connections', 'list'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('insufficient_scope'),
  });
});

test('a person denies a terminal, which keeps nothing', async ({ service, ada }) => {
  const { user, outcome } = await signIn(service, ada, 'deny', {});
  expect(outcome).toMatchObject({ code: 4, stderr: expect.stringContaining('refused') });
  expect(await user.run(['whoami'])).toMatchObject({ code: 4 });
});
