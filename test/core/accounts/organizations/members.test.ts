import { expect } from 'vitest';
import { AT_ONCE } from '#lib/database/index.ts';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { newEmail, signUp, type Person } from '#test/support/people.ts';
import { changeInvitations, changeKeys, plantAccounts } from '#test/support/given.ts';

const test = serviceTest().extend(
  'join',
  ({ options: _options }) =>
    async (owner: Person, person: Person, role = 'member'): Promise<Answer> => {
      const path = `/v1/organizations/${owner.organizationId}/invitations`;
      const invited = await owner.session.post(path, { email: person.email, role });
      expect(invited.status).toBe(201);
      const accepted = await person.session.post('/v1/invitations/accept', {
        token: invited.data.token,
      });
      expect(accepted.status).toBe(200);
      return accepted;
    },
);

function membersOf({ organizationId }: Person): string {
  return `/v1/organizations/${organizationId}/members`;
}

test('an invitation opens the organization to its address only, and once', async ({ service }) => {
  const [owner, grace, eve] = [await signUp(service), await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}/invitations`;
  const { data } = await owner.session.post(path, { email: grace.email.toUpperCase() });
  expect(data).toMatchObject({ email: grace.email, role: 'member' });
  const { data: listed } = await owner.session.get(path);
  expect(listed).toEqual([expect.objectContaining({ id: data.id })]);
  expect(JSON.stringify(listed)).not.toContain(data.token);

  const accept = (person: Person) => person.session.post('/v1/invitations/accept', { token: data.token });
  expect(codeOf(await accept(eve))).toEqual([404, 'invitation_not_found']);
  const accepted = await accept(grace);
  expect(accepted.data).toMatchObject({ id: owner.organizationId, role: 'member' });
  expect(codeOf(await accept(grace))).toEqual([404, 'invitation_not_found']);
  expect((await owner.session.get(path)).data).toEqual([]);
  const again = await owner.session.post(path, { email: grace.email });
  expect(codeOf(again)).toEqual([409, 'already_member']);
});

test('of many who accept one invitation at once, one does', async ({ service }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}/invitations`;
  const { data } = await owner.session.post(path, { email: grace.email });
  const accept = () => grace.session.post('/v1/invitations/accept', { token: data.token });
  const answers = await Promise.all(Array.from({ length: 6 }, accept));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, 404, 404, 404, 404, 404]);
});

test('the token is hashed at rest, is not in a repeated response, and ends with its week', async ({ service }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}/invitations`;
  const client = owner.session.with({ 'Idempotency-Key': 'invite' });
  const { data } = await client.post(path, { email: grace.email });
  const replayed = await client.post(path, { email: grace.email });
  expect(replayed.data).toEqual({ ...data, token: null });
  const { database } = service.deps;
  const stored = await database.row`select i::text from invitations i where id = ${data.id}`;
  expect(JSON.stringify(stored)).not.toContain(data.token);
  const days = (Date.parse(data.expiresAt) - Date.parse(data.createdAt)) / 86_400_000;
  expect(Math.round(days)).toBe(7);
  await changeInvitations(database, data.id, { expiresAt: AT_ONCE });
  const late = await grace.session.post('/v1/invitations/accept', { token: data.token });
  expect(codeOf(late)).toEqual([404, 'invitation_not_found']);
});

test('an invitation is taken back, and replaced by a later one of the same address', async ({ service }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}/invitations`;
  const first = await owner.session.post(path, { email: grace.email });
  const second = await owner.session.post(path, { email: grace.email, role: 'admin' });
  const accept = (token: string) => grace.session.post('/v1/invitations/accept', { token });
  expect((await accept(first.data.token)).status).toBe(404);
  const deleted = await owner.session.delete(`${path}/${second.data.id}`);
  expect(deleted.status).toBe(200);
  expect((await accept(second.data.token)).status).toBe(404);
  expect((await owner.session.delete(`${path}/${second.data.id}`)).status).toBe(404);
});

test('strangers see nothing of an organization, and members cannot invite', async ({ service, join }) => {
  const [owner, grace, eve] = [await signUp(service), await signUp(service), await signUp(service)];
  await join(owner, grace);
  const path = `/v1/organizations/${owner.organizationId}`;
  for (const part of ['/members', '/invitations']) {
    const seen = await eve.session.get(`${path}${part}`);
    expect(codeOf(seen)).toEqual([404, 'organization_not_found']);
  }
  const body = { email: newEmail() };
  const byMember = await grace.session.post(`${path}/invitations`, body);
  expect(codeOf(byMember)).toEqual([403, 'forbidden']);
  expect((await grace.session.get(`${path}/members`)).data).toHaveLength(2);
});

test('an organization always has an owner, who hands it over', async ({ service, join }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  await join(owner, grace, 'admin');
  const own = `${membersOf(owner)}/${owner.userId}`;
  const other = `${membersOf(owner)}/${grace.userId}`;
  expect(codeOf(await owner.session.delete(own))).toEqual([409, 'last_owner']);
  expect(codeOf(await owner.session.patch(own, { role: 'member' }))).toEqual([409, 'last_owner']);
  const grab = await grace.session.patch(other, { role: 'owner' });
  expect(codeOf(grab)).toEqual([403, 'owner_required']);
  expect(codeOf(await grace.session.delete(own))).toEqual([403, 'owner_required']);

  expect((await owner.session.patch(other, { role: 'owner' })).data.role).toBe('owner');
  // Both owners give up ownership at once, and one of them remains owner.
  const given = await Promise.all([
    owner.session.patch(own, { role: 'member' }),
    grace.session.patch(other, { role: 'member' }),
  ]);
  expect(given.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const { data } = await owner.session.get(membersOf(owner));
  expect(data.filter(({ role }: { role: string }) => role === 'owner')).toHaveLength(1);
});

test('a removed person is out with the next request, and their keys with them', async ({ service, join }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  await join(owner, grace, 'admin');
  const inProject = grace.session.with({ 'X-Project-Id': owner.projectId });
  const { data: made } = await inProject.post('/v1/api-keys', { name: 'of grace' });
  const key = service.anonymous.with({ Authorization: `Bearer ${made.key}` });
  const { data: keys } = await owner.session.get('/v1/api-keys');
  expect(keys[0].createdBy).toEqual({ id: grace.userId, name: 'Test Person' });
  expect((await key.get('/v1/routines')).status).toBe(200);
  const removed = await owner.session.delete(`${membersOf(owner)}/${grace.userId}`);
  expect(removed.status).toBe(200);
  expect(codeOf(await inProject.get('/v1/routines'))).toEqual([404, 'project_not_found']);
  expect(codeOf(await key.get('/v1/routines'))).toEqual([401, 'invalid_api_key']);
  const after = await owner.session.delete(`${membersOf(owner)}/${grace.userId}`);
  expect(codeOf(after)).toEqual([404, 'member_not_found']);
});

test('an owner may keep the keys of a removed member; an admin may not', async ({ service, join }) => {
  const [owner, admin, grace] = [await signUp(service), await signUp(service), await signUp(service)];
  await join(owner, admin, 'admin');
  await join(owner, grace, 'admin');
  const inProject = grace.session.with({ 'X-Project-Id': owner.projectId });
  const { data: made } = await inProject.post('/v1/api-keys', { name: 'of grace' });
  const path = `${membersOf(owner)}/${grace.userId}?keepKeys=true`;
  expect(codeOf(await admin.session.delete(path))).toEqual([403, 'owner_required']);
  expect((await owner.session.delete(path)).status).toBe(200);
  const key = service.anonymous.with({ Authorization: `Bearer ${made.key}` });
  expect((await key.get('/v1/routines')).status).toBe(200);
});

test('other subjects end what a person had, in the transaction that removes them', async ({ service, join }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  await join(owner, grace);
  const account = { ownerId: grace.userId, credential: 'sealed' };
  await plantAccounts(service.deps.database, owner.projectId, account);
  const told: unknown[] = [];
  const { emit } = service.deps;
  Object.assign(service.deps, {
    emit: async (_tx: unknown, name: unknown) => {
      told.push(name);
      throw new Error('not possible now');
    },
  });
  try {
    const left = await grace.session.delete(`${membersOf(owner)}/${grace.userId}`);
    expect(left.status).toBe(500);
  } finally {
    Object.assign(service.deps, { emit });
  }
  expect(told).toEqual(['routine.paused_by_service']);
  expect((await owner.session.get(membersOf(owner))).data).toHaveLength(2);
});

test('members make keys that read, owners and admins also such that write', async ({ service, join }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  await join(owner, grace);
  const inProject = grace.session.with({ 'X-Project-Id': owner.projectId });
  const make = (scopes: string[]) => inProject.post('/v1/api-keys', { name: 'k', scopes });
  expect(codeOf(await make(['routines:read', 'runs:write']))).toEqual([403, 'forbidden']);
  expect((await make(['routines:read', 'runs:read'])).status).toBe(201);
  await owner.session.patch(`${membersOf(owner)}/${grace.userId}`, { role: 'admin' });
  expect((await make(['routines:read', 'runs:write'])).status).toBe(201);
});

test('who is made a member loses the keys that a member may not make, and the response names them', async ({
  service,
  join,
}) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  await join(owner, grace, 'admin');
  const inProject = grace.session.with({ 'X-Project-Id': owner.projectId });
  const make = async (name: string, scopes: string[]) => {
    const { data } = await inProject.post('/v1/api-keys', { name, scopes });
    return service.anonymous.with({ Authorization: `Bearer ${data.key}` });
  };
  const reading = await make('reads', ['routines:read']);
  const writing = await make('writes', ['routines:read', 'runs:write']);
  const demoted = await owner.session.patch(`${membersOf(owner)}/${grace.userId}`, {
    role: 'member',
  });
  expect(demoted.data).toMatchObject({
    role: 'member',
    revokedKeys: [{ id: expect.any(String), name: 'writes', projectId: owner.projectId }],
  });
  expect((await reading.get('/v1/routines')).status).toBe(200);
  expect(codeOf(await writing.get('/v1/routines'))).toEqual([401, 'invalid_api_key']);
  const left = await grace.session.delete(`${membersOf(owner)}/${grace.userId}`);
  expect(left.data).toMatchObject({ revokedKeys: [{ name: 'reads' }], connections: [] });
});

test('a key works until it expires', async ({ service, ada }) => {
  const body = { name: 'k', expiresAt: new Date(Date.now() + 3_600_000).toISOString() };
  const { data } = await ada.session.post('/v1/api-keys', body);
  expect(data.expiresAt).toBe(body.expiresAt);
  const key = service.anonymous.with({ Authorization: `Bearer ${data.key}` });
  expect((await key.get('/v1/routines')).status).toBe(200);
  await changeKeys(service.deps.database, data.id, { expiresAt: AT_ONCE });
  expect(codeOf(await key.get('/v1/routines'))).toEqual([401, 'invalid_api_key']);
  const past = await ada.session.post('/v1/api-keys', {
    name: 'k',
    expiresAt: '2020-01-01T00:00:00Z',
  });
  expect(codeOf(past)).toEqual([400, 'invalid_request']);
});

test('a repeated request shows an API key no second time', async ({ ada }) => {
  const client = ada.session.with({ 'Idempotency-Key': 'once' });
  const first = await client.post('/v1/api-keys', { name: 'once' });
  const second = await client.post('/v1/api-keys', { name: 'once' });
  expect(second.data).toEqual({ ...first.data, key: null });
  expect(second.headers.get('idempotent-replayed')).toBe('true');
});

function codeOf({ status, body }: Answer): unknown[] {
  return [status, body.error?.code];
}
