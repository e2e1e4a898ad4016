import { expect } from 'vitest';
import { newId } from '#lib/ids.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { PASSWORD, postAuth, signUp, type Person } from '#test/support/people.ts';
import { activeRoutine, createRoutine } from '#test/support/routines.ts';
import { plantConnection } from '#test/support/given.ts';

const test = serviceTest({ worker: true });

function deletionOf({ projectId }: Pick<Person, 'projectId'>, name = 'Default'): string {
  return `/v1/projects/${projectId}?confirm=${encodeURIComponent(name)}`;
}

test('a deleted project is out of reach at once, its keys and credentials gone', async ({ service }) => {
  const { database } = service.deps;
  const person = await signUp(service);
  const key = await person.key();
  const routineId = await createRoutine(key, { webhookUrl: 'http://127.0.0.1:4999/hook' });
  const unconfirmed = await person.session.delete(`/v1/projects/${person.projectId}`);
  expect([unconfirmed.status, unconfirmed.body.error.code]).toEqual([400, 'confirmation_required']);
  expect((await person.session.delete(deletionOf(person, 'default'))).status).toBe(400);
  const deleted = await person.session.delete(deletionOf(person));
  expect([deleted.status, deleted.data.id]).toEqual([200, person.projectId]);
  expect((await key.get('/v1/routines')).status).toBe(401);
  const selected = person.session.with({ 'X-Project-Id': person.projectId });
  expect((await selected.get('/v1/routines')).body.error.code).toBe('project_not_found');
  expect((await person.session.get('/v1/projects')).data).toEqual([]);
  expect((await person.session.get(`/v1/projects/${person.projectId}`)).status).toBe(404);
  expect((await person.session.delete(deletionOf(person))).status).toBe(404);
  const left = await database.row`select state, webhook_secret, webhook_url from routines where id = ${routineId}`;
  expect(left).toEqual({ state: 'archived', webhook_secret: null, webhook_url: null });
});

test('no connection is kept in a project that was deleted while its server was asked', async ({ service }) => {
  const { database } = service.deps;
  const person = await signUp(service);
  expect((await person.session.delete(deletionOf(person))).status).toBe(200);
  const id = newId('connection');
  const url = 'https://tools.example.com/mcp?api_key=late';
  const kept = plantConnection(service, person.projectId, { id, url, token: 'late' });
  await expect(kept).rejects.toMatchObject({ code: 'project_not_found' });
  expect(await database.row`select from connections where id = ${id}`).toBeUndefined();
});

test('a project with an active routine stays, and everything in it', async ({ service }) => {
  const person = await signUp(service);
  const key = await person.key();
  const routineId = await activeRoutine(key);
  const refused = await person.session.delete(deletionOf(person));
  expect([refused.status, refused.body.error.code]).toEqual([409, 'routines_active']);
  expect((await key.get(`/v1/routines/${routineId}`)).data.state).toBe('active');
});

test('runs under way are cancelled with their project', async ({ service }) => {
  const { database } = service.deps;
  const person = await signUp(service);
  const key = await person.key();
  const routineId = await createRoutine(key, { instructions: 'Wait.' });
  const started = await Promise.all([1, 2, 3].map(() => key.post(`/v1/routines/${routineId}/run`)));
  expect((await person.session.delete(deletionOf(person))).status).toBe(200);
  const open = async () =>
    (
      await database.row<{ open: number }>`
        select count(*) as open from runs
        where project_id = ${person.projectId} and state in ('queued', 'running')
      `
    )?.open;
  await expect.poll(open).toBe(0);
  expect(started.map(({ status }) => status)).toEqual([202, 202, 202]);
});

test('members delete no project, admins no organization, and strangers see neither', async ({ service, bob }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}`;
  const { data } = await owner.session.post(`${path}/invitations`, { email: grace.email });
  await grace.session.post('/v1/invitations/accept', { token: data.token });
  expect((await grace.session.delete(deletionOf(owner))).body.error.code).toBe('forbidden');
  await owner.session.patch(`${path}/members/${grace.userId}`, { role: 'admin' });
  const byAdmin = await grace.session.delete(`${path}?confirm=x`);
  expect([byAdmin.status, byAdmin.body.error.code]).toEqual([403, 'owner_required']);
  expect((await bob.session.delete(`${path}?confirm=x`)).status).toBe(404);
  expect((await bob.session.delete(deletionOf(owner))).status).toBe(404);
});

test('an organization goes with all its projects, and its owner can found another', async ({ service }) => {
  const person = await signUp(service);
  const key = await person.key();
  const { data: second } = await person.session.post('/v1/projects', {
    organizationId: person.organizationId,
    name: 'Second',
  });
  const path = `/v1/organizations/${person.organizationId}`;
  const { data } = await person.session.get(path);
  const deleted = await person.session.delete(`${path}?confirm=${encodeURIComponent(data.name)}`);
  expect(deleted.status).toBe(200);
  expect((await person.session.get(path)).status).toBe(404);
  expect((await person.session.get('/v1/organizations')).data).toEqual([]);
  expect((await person.session.get(`/v1/projects/${second.id}`)).status).toBe(404);
  expect((await key.get('/v1/routines')).status).toBe(401);
  expect((await person.session.post('/v1/organizations', { name: 'Another' })).status).toBe(201);
});

test('an account goes with its memberships and keys, but not that of a last owner', async ({ service }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}`;
  const invited = await owner.session.post(`${path}/invitations`, {
    email: grace.email,
    role: 'admin',
  });
  await grace.session.post('/v1/invitations/accept', { token: invited.data.token });
  const inProject = grace.session.with({ 'X-Project-Id': owner.projectId });
  const { data: made } = await inProject.post('/v1/api-keys', { name: 'of grace' });
  const { Cookie = '' } = grace.session.headers;
  const leave = async (password: string) => {
    const response = await postAuth(service, '/auth/delete-user', { password }, { Cookie });
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code];
  };
  expect(await leave('wrong-password')).toEqual([400, 'invalid_password']);
  expect(await leave(PASSWORD)).toEqual([409, 'last_owner']);
  expect((await owner.session.get(`${path}/members`)).data).toHaveLength(2);

  const own = `/v1/organizations/${grace.organizationId}`;
  const { data } = await grace.session.get(own);
  await grace.session.delete(`${own}?confirm=${encodeURIComponent(data.name)}`);
  expect(await leave(PASSWORD)).toEqual([200, undefined]);
  expect((await grace.session.get('/v1/sessions')).status).toBe(401);
  expect((await owner.session.get(`${path}/members`)).data).toHaveLength(1);
  const key = service.anonymous.with({ Authorization: `Bearer ${made.key}` });
  expect((await key.get('/v1/routines')).status).toBe(401);
  const body = { email: grace.email, password: PASSWORD };
  expect((await postAuth(service, '/auth/sign-in/email', body)).status).toBe(401);
});
