import { expect } from 'vitest';
import { routes } from '#api/routes.ts';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { ageProofs } from '#test/support/given.ts';
import { fromElsewhere, newEmail, PASSWORD, signUp, type Person } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { addSecondFactor } from '#test/support/second-factor.ts';

const test = serviceTest().extend('stale', ({ service }) => async () => {
  const person = await signUp(service);
  await ageProofs(service.deps.database, person.userId, '16 minutes');
  return { ...person, session: person.session.with(fromElsewhere()) };
});

/** Lists the operations that change members, keys, ownership, existence and billing of the person's organization. */
function changesOf({ organizationId, projectId, userId }: Person) {
  const members = `/v1/organizations/${organizationId}/members/${userId}`;
  return [
    ['POST', `/v1/organizations/${organizationId}/invitations`, { email: newEmail() }],
    ['PATCH', members, { role: 'owner' }],
    ['DELETE', members],
    ['DELETE', `${members}/sessions`],
    ['POST', '/v1/api-keys', { name: 'key' }],
    ['DELETE', '/v1/api-keys/key_00000000000000000000000000'],
    ['POST', '/v1/terminal-sign-ins/BCDF-GHJK/approve', { scopes: ['runs:read'] }],
    ['DELETE', `/v1/projects/${projectId}`],
    ['DELETE', `/v1/organizations/${organizationId}`],
    ['PATCH', `/v1/organizations/${organizationId}`, { requiresSecondFactor: false }],
    ['POST', '/v1/assistant-consents/approve', { oauthQuery: 'x', scopes: ['runs:read'] }],
    ['POST', '/v1/billing/checkout', { plan: 'pro', entrypoint: 'billing' }],
    ['POST', '/v1/billing/portal', {}],
    ['POST', '/auth/change-email', { newEmail: newEmail() }],
    ['POST', '/auth/second-factor/begin', {}],
    ['POST', '/auth/second-factor/confirm', { code: '123456' }],
    ['POST', '/auth/second-factor/recovery-codes', {}],
    ['POST', '/auth/second-factor/remove', {}],
    ['POST', '/auth/passkeys/begin', {}],
    ['POST', '/auth/passkeys/add', { name: 'Laptop', passkey: NO_PASSKEY }],
    ['POST', '/auth/passkeys/remove', { id: 'e30' }],
  ] as const;
}

const NO_PASSKEY = {
  id: 'e30',
  rawId: 'e30',
  type: 'public-key',
  response: { clientDataJSON: 'e30', attestationObject: 'e30' },
};

test('what changes access is refused a quarter of an hour after the last proof, and nothing else is', async ({
  stale,
}) => {
  const person = await stale();
  const { session } = person;
  for (const [method, path, body] of changesOf(person)) {
    const answer = await session.with(fromElsewhere()).send(method, path, body);
    expect([path, ...codeOf(answer)]).toEqual([path, 403, 'reauthentication_required']);
  }
  expect((await session.get('/v1/organizations')).status).toBe(200);
  const { organizationId } = person;
  const renamed = await session.patch(`/v1/organizations/${organizationId}`, { name: 'Renamed' });
  expect(renamed.status).toBe(200);
});

test('the password proves it, for a quarter of an hour and for this session only', async ({ service, stale }) => {
  const { session, userId } = await stale();
  const create = () => session.post('/v1/api-keys', { name: 'key' });
  const wrong = await session.post('/auth/prove', { password: 'not the password' });
  expect(codeOf(wrong)).toEqual([400, 'invalid_password']);
  expect(codeOf(await create())).toEqual([403, 'reauthentication_required']);
  expect((await session.post('/auth/prove', { password: PASSWORD })).status).toBe(200);
  expect((await create()).status).toBe(201);
  await ageProofs(service.deps.database, userId, '16 minutes');
  expect(codeOf(await create())).toEqual([403, 'reauthentication_required']);
});

test('who has a second factor proves it by that: the password is not enough', async ({ service }) => {
  const person = await signUp(service);
  const { userId } = person;
  const session = person.session.with(fromElsewhere());
  const { database } = service.deps;
  const factor = await addSecondFactor(database, person);
  await ageProofs(database, userId, '16 minutes');
  const remove = () => session.post('/auth/second-factor/remove');
  expect(codeOf(await session.post('/auth/prove', { password: PASSWORD }))).toEqual([400, 'invalid_code']);
  const newPassword = 'another-long-password';
  const change = { currentPassword: PASSWORD, newPassword };
  for (const [path, body] of [
    ['/auth/change-password', change],
    ['/auth/delete-user', { password: PASSWORD }],
  ] as const) {
    expect(codeOf(await session.post(path, body))).toEqual([403, 'reauthentication_required']);
  }
  expect(codeOf(await remove())).toEqual([403, 'reauthentication_required']);
  expect((await session.post('/auth/prove', { code: await factor.code() })).status).toBe(200);
  expect((await session.post('/auth/change-password', change)).status).toBe(200);
  expect((await remove()).status).toBe(200);
});

test('without a second factor the password in a change of it is proof enough', async ({ stale }) => {
  const { session } = await stale();
  const body = { currentPassword: PASSWORD, newPassword: 'another-long-password' };
  expect((await session.post('/auth/change-password', body)).status).toBe(200);
});

test('a stolen cookie allows five guesses of the password in a quarter of an hour', async ({ stale }) => {
  const { session } = await stale();
  const statuses: number[] = [];
  for (let index = 0; index < 6; index += 1) {
    const from = session.with({ 'X-Forwarded-For': `198.51.100.${index}` });
    statuses.push((await from.post('/auth/prove', { password: 'a wrong guess' })).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 5 }, () => 400), 429]);
});

test('API keys are not asked', async ({ service }) => {
  const person = await signUp(service);
  const key = await person.key();
  await ageProofs(service.deps.database, person.userId, '16 minutes');
  await createRoutine(key);
  // No operation that needs a fresh proof is open to an API key.
  const asking = routes.filter(({ spec }) => spec.fresh === true);
  expect(asking.map(({ spec }) => spec.auth)).not.toContain('key-or-session');
  expect(asking).toHaveLength(14);
});

function codeOf({ status, body }: Answer): [number, string] {
  return [status, body?.error?.code];
}
