import { expect } from 'vitest';
import { sessionCookieName, stillStands } from '#core/accounts/identity/index.ts';
import { authenticateMcpToken } from '#core/accounts/programs/index.ts';
import { connect, enterAssistant } from '#test/support/assistants.ts';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { ago, ahead, changeSessions, giveRole } from '#test/support/given.ts';
import { PASSWORD, postAuth, signInAgain, signUp, type Person } from '#test/support/people.ts';

const test = serviceTest();

test('a person sees their sessions and ends one, with its next request', async ({ service, ada }) => {
  const other = await signInAgain(service, ada);
  const { data } = await ada.session.get('/v1/sessions');
  expect(data.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
  const [theOther] = data;
  expect(theOther.address).toMatch(/^203\.0\./);
  expect((await other.get('/v1/routines')).status).toBe(200);
  expect((await ada.session.delete(`/v1/sessions/${theOther.id}`)).data.id).toBe(theOther.id);
  expect((await other.get('/v1/routines')).status).toBe(401);
  const again = await ada.session.delete(`/v1/sessions/${theOther.id}`);
  expect([again.status, again.body.error.code]).toEqual([404, 'session_not_found']);
});

test("a person can neither see nor end another person's session", async ({ ada, bob }) => {
  const { data } = await ada.session.get('/v1/sessions');
  const ids = data.map(({ id }: { id: string }) => id);
  const { data: bobs } = await bob.session.get('/v1/sessions');
  expect(bobs.filter(({ id }: { id: string }) => ids.includes(id))).toEqual([]);
  const foreign = await bob.session.delete(`/v1/sessions/${ids[0]}`);
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'session_not_found']);
  expect((await ada.session.get('/v1/sessions')).status).toBe(200);
});

test('owners and admins end the sessions of a member, which is on record, but an admin not those of an owner', async ({
  service,
  bob,
}) => {
  const { database } = service.deps;
  const [owner, admin, member] = [await signUp(service), await signUp(service), await signUp(service)];
  const { organizationId } = owner;
  await giveRole(database, organizationId, admin.userId, 'admin');
  await giveRole(database, organizationId, member.userId, 'member');
  const key = await member.key();
  const end = (by: Person, { userId }: Person) =>
    by.session.delete(`/v1/organizations/${organizationId}/members/${userId}/sessions`);
  const refused = [await end(admin, owner), await end(member, admin), await end(owner, bob)];
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
    [403, 'owner_required'],
    [403, 'forbidden'],
    [404, 'member_not_found'],
  ]);
  await signInAgain(service, member);
  const kept = { revokedKeys: [], disconnectedAssistants: 0 };
  expect((await end(admin, member)).data).toEqual({ ended: 2, ...kept });
  expect((await key.get('/v1/routines')).status).toBe(200);
  expect((await end(owner, admin)).data).toEqual({ ended: 1, ...kept });
  const { data: events } = await owner.session.get(
    `/v1/audit-events?organizationId=${organizationId}&action=member.sessions_ended`,
  );
  expect(events.map(({ actor, targetId, details }: AuditEvent) => [actor.id, targetId, details])).toEqual([
    [owner.userId, admin.userId, { sessions: 1 }],
    [admin.userId, member.userId, { sessions: 2 }],
  ]);
});

test('sessions that an organization has ended prove who their person is before they act there, and go on elsewhere', async ({
  service,
}) => {
  const { database } = service.deps;
  const [owner, member] = [await signUp(service), await signUp(service)];
  const { organizationId, projectId } = owner;
  await giveRole(database, organizationId, member.userId, 'admin');
  const path = `/v1/organizations/${organizationId}/members/${member.userId}/sessions`;
  const other = await signInAgain(service, member);
  const [{ id: sessionId }] = (await member.session.get('/v1/sessions')).data.slice(-1);
  const standing = { kind: 'session', sessionId, userId: member.userId, projectId } as const;
  expect(await stillStands(database, standing)).toBe(true);
  expect((await owner.session.delete(path)).status).toBe(200);
  expect(await stillStands(database, standing)).toBe(false);

  const there = (session: ApiClient) => {
    const inProject = session.with({ 'X-Project-Id': projectId });
    return Promise.all([
      inProject.get('/v1/routines'),
      inProject.post('/v1/routines', {}),
      inProject.get('/v1/api-keys'),
      session.get(`/v1/projects/${projectId}`),
      session.patch(`/v1/projects/${projectId}`, { name: 'Mine' }),
      session.get(`/v1/organizations/${organizationId}`),
      session.get(`/v1/organizations/${organizationId}/members`),
      session.get(`/v1/audit-events?organizationId=${organizationId}`),
      session.get(`/v1/projects?organizationId=${organizationId}`),
      session.post('/v1/projects', { organizationId, name: 'Another' }),
      session.delete(`/v1/organizations/${organizationId}/members/${owner.userId}/sessions`),
    ]);
  };
  const codes = (answers: readonly Answer[]) => [...new Set(answers.map(({ body }) => body.error?.code))];
  expect(codes(await there(member.session))).toEqual(['reauthentication_required']);
  const own = member.session.with({ 'X-Project-Id': member.projectId });
  expect((await own.get('/v1/routines')).status).toBe(200);
  expect((await own.post('/v1/projects', { organizationId: member.organizationId, name: 'Mine' })).status).toBe(201);

  expect((await member.session.post('/auth/prove', { password: PASSWORD })).status).toBe(200);
  expect(codes(await there(member.session))).not.toContain('reauthentication_required');
  expect(codes(await there(other))).toEqual(['reauthentication_required']);
  expect(await stillStands(database, standing)).toBe(true);
});

test('the sessions of a member are ended a few times an hour, by whichever admin', async ({ service }) => {
  const { database } = service.deps;
  const [owner, admin, member] = [await signUp(service), await signUp(service), await signUp(service)];
  const { organizationId } = owner;
  await giveRole(database, organizationId, admin.userId, 'admin');
  await giveRole(database, organizationId, member.userId, 'member');
  const path = `/v1/organizations/${organizationId}/members/${member.userId}/sessions`;
  const statuses = [];
  for (const by of [owner, admin, owner, admin, owner, admin]) statuses.push((await by.session.delete(path)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  const other = `/v1/organizations/${organizationId}/members/${admin.userId}/sessions`;
  expect((await owner.session.delete(other)).status).toBe(200);
});

test('with the sessions of a member ends what programs do for them there, where that is asked for', async ({
  service,
}) => {
  const { database } = service.deps;
  const [owner, member] = [await signUp(service), await signUp(service)];
  const { organizationId, projectId } = owner;
  await giveRole(database, organizationId, member.userId, 'admin');
  const own = await member.key();
  const there = member.session.with({ 'X-Project-Id': projectId });
  const { data: made } = await there.post('/v1/api-keys', { name: 'Of a member', scopes: ['routines:read'] });
  const key = service.anonymous.with({ Authorization: `Bearer ${made.key}` });
  const owners = await owner.key();
  const assistant = await enterAssistant(service);
  const { body: tokens } = await connect(assistant, { session: member.session, projectId });
  const { body: elsewhere } = await connect(assistant, member);
  const path = `/v1/organizations/${organizationId}/members/${member.userId}/sessions?endPrograms=true`;
  expect((await owner.session.delete(path)).data).toEqual({
    ended: 1,
    revokedKeys: [{ id: made.id, name: 'Of a member', projectId }],
    disconnectedAssistants: 1,
  });
  expect((await key.get('/v1/routines')).status).toBe(401);
  expect(await authenticateMcpToken(service.deps, tokens.access_token)).toBeUndefined();
  for (const kept of [own, owners]) expect((await kept.get('/v1/routines')).status).toBe(200);
  expect(await authenticateMcpToken(service.deps, elsewhere.access_token)).toBeDefined();
  const { data: events } = await owner.session.get(
    `/v1/audit-events?organizationId=${organizationId}&action=assistant.disconnected`,
  );
  expect(events).toMatchObject([{ actor: { id: owner.userId }, targetId: assistant.clientId }]);
});

test('use prolongs a session and the browser learns it, but a month after the sign-in it ends', async ({ service }) => {
  const { database } = service.deps;
  const person = await signUp(service);
  const { userId, session } = person;
  const age = (days: number, left: number) =>
    changeSessions(database, { userId }, { createdAt: ago(`${days} days`), expiresAt: ahead(`${left} days`) });
  const lasts = async () => {
    const found = await database.row<{ days: number }>`
      select round(extract(epoch from expires_at - created_at) / 86400)::int as days from sessions
      where user_id = ${userId}
    `;
    return found?.days;
  };
  expect((await session.get('/v1/routines')).headers.getSetCookie()).toEqual([]);
  await age(3, 4);
  const prolonged = await session.get('/v1/routines');
  const [cookie = ''] = (session.headers['Cookie'] ?? '').split('; ');
  expect(prolonged.headers.getSetCookie().join()).toContain(cookie);
  expect(await lasts()).toBe(10);
  await age(28, 1);
  expect((await session.get('/v1/routines')).status).toBe(200);
  expect(await lasts()).toBe(30);
  await age(31, -1);
  expect((await session.get('/v1/routines')).status).toBe(401);
});

test('over https its cookies belong to this very host, and OpenAPI names that of the session', async ({ service }) => {
  const publicUrl = 'https://api.example.com';
  const replica = await service.replica({ PUBLIC_URL: publicUrl, UI_ORIGIN: publicUrl });
  try {
    const at = { url: replica.url, config: { UI_ORIGIN: publicUrl } };
    const { email } = await signUp(service);
    const response = await postAuth(at, '/auth/sign-in/email', { email, password: PASSWORD });
    const cookies = response.headers.getSetCookie();
    const [cookie = '', browser = ''] = cookies;
    expect(cookie).toMatch(/^__Host-ras\.session_token=/);
    expect(browser).toMatch(/^__Host-ras\.browser_/);
    for (const each of cookies) {
      expect(each).toMatch(/; Secure/);
      expect(each).toMatch(/; Path=\/(;|$)/);
      expect(each).not.toMatch(/Domain/i);
    }
    const headers = { Cookie: cookie.split(';')[0]! };
    const seen = await fetch(`${replica.url}/v1/sessions`, { headers });
    expect(seen.status).toBe(200);
    const document = await fetch(`${replica.url}/v1/openapi.json`);
    const { components } = (await document.json()) as Document;
    const { name } = components.securitySchemes.session;
    expect(name).toBe(sessionCookieName({ publicUrl, productTag: 'ras' }));
    expect(cookie.startsWith(`${name}=`)).toBe(true);
  } finally {
    await replica.close();
  }
});

interface Document {
  readonly components: {
    readonly securitySchemes: { readonly session: { readonly name: string } };
  };
}

interface AuditEvent {
  readonly actor: { readonly id: string };
  readonly targetId: string;
  readonly details: object;
}
