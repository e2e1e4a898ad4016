import { expect } from 'vitest';
import { stillStands } from '#core/accounts/identity/index.ts';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { giveRole } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { addSecondFactor } from '#test/support/second-factor.ts';

const test = serviceTest().extend('demanding', ({ service }) => async () => {
  const { database } = service.deps;
  const [owner, member] = [await signUp(service), await signUp(service)];
  const { organizationId } = owner;
  await giveRole(database, organizationId, member.userId, 'admin');
  const demand = (person: typeof owner, requiresSecondFactor = true) =>
    person.session.patch(`/v1/organizations/${organizationId}`, { requiresSecondFactor });
  return { owner, member, demand, organizationId, projectId: owner.projectId };
});

test('an owner with a second factor demands one, and no other person does', async ({ service, demanding }) => {
  const { owner, member, demand } = await demanding();
  expect(codeOf(await demand(owner))).toEqual([403, 'second_factor_required']);
  await addSecondFactor(service.deps.database, member);
  expect(codeOf(await demand(member))).toEqual([403, 'owner_required']);
  await addSecondFactor(service.deps.database, owner);
  expect((await demand(owner)).data).toMatchObject({ requiresSecondFactor: true });
  expect((await demand(owner, false)).data).toMatchObject({ requiresSecondFactor: false });
});

test('a stream of events that is open ends when a factor is demanded that its reader lacks', async ({
  service,
  demanding,
}) => {
  const { database } = service.deps;
  const { owner, member, demand, projectId } = await demanding();
  const { data: sessions } = await member.session.get('/v1/sessions');
  const [{ id: sessionId }] = sessions;
  const standing = { kind: 'session', sessionId, userId: member.userId, projectId } as const;
  expect(await stillStands(database, standing)).toBe(true);
  await addSecondFactor(database, owner);
  await demand(owner);
  expect(await stillStands(database, standing)).toBe(false);
  await addSecondFactor(database, member);
  expect(await stillStands(database, standing)).toBe(true);
});

test('a member without one is refused everything in the organization until they add one; keys go on', async ({
  service,
  demanding,
}) => {
  const { owner, member, demand, organizationId, projectId } = await demanding();
  const key = await owner.key();
  await addSecondFactor(service.deps.database, owner);
  await demand(owner);
  const inProject = member.session.with({ 'X-Project-Id': projectId });
  const refused: readonly Promise<Answer>[] = [
    inProject.get('/v1/routines'),
    inProject.get('/v1/api-keys'),
    inProject.get('/v1/runs/recent'),
    inProject.get(`/v1/projects/${projectId}`),
    inProject.patch(`/v1/projects/${projectId}`, { name: 'Mine' }),
    inProject.get(`/v1/organizations/${organizationId}`),
    inProject.get(`/v1/organizations/${organizationId}/members`),
    inProject.get(`/v1/organizations/${organizationId}/invitations`),
    inProject.get(`/v1/audit-events?organizationId=${organizationId}`),
    inProject.post('/v1/projects', { organizationId, name: 'Another' }),
    inProject.delete(`/v1/organizations/${organizationId}/members/${owner.userId}/sessions`),
  ];
  for (const answer of await Promise.all(refused)) {
    expect(codeOf(answer)).toEqual([403, 'second_factor_required']);
  }
  expect((await member.session.with({ 'X-Project-Id': member.projectId }).get('/v1/routines')).status).toBe(200);
  expect((await key.get('/v1/routines')).status).toBe(200);
  await addSecondFactor(service.deps.database, member);
  expect((await inProject.get('/v1/routines')).status).toBe(200);
  expect((await inProject.get(`/v1/organizations/${organizationId}`)).status).toBe(200);
});

function codeOf({ status, body }: Answer): [number, string] {
  return [status, body?.error?.code];
}
