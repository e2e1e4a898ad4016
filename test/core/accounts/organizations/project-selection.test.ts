import { beforeAll, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import type { Answer } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';

let service: Service;
let ada: Person;
let bob: Person;
let second: string;

beforeAll(async () => {
  service = await sharedService();
  ada = await signUp(service);
  bob = await signUp(service);
  const body = { organizationId: ada.organizationId, name: 'Second' };
  second = (await ada.session.post('/v1/projects', body)).data.id;
  await createRoutine(inProject(ada, ada.projectId), { name: 'of the first' });
  await createRoutine(inProject(ada, second), { name: 'of the second' });
});

test('a session with one project needs no selector', async () => {
  expect((await bob.session.get('/v1/routines')).status).toBe(200);
});

test('a session with several projects and no selector is refused, never given a default', async () => {
  const answer = await ada.session.get('/v1/routines');
  expect(codeOf(answer)).toEqual([400, 'project_required']);
});

test('the header selects the project, and so does the cookie', proves('auth.membership'), async () => {
  expect(namesIn(await inProject(ada, second).get('/v1/routines'))).toEqual(['of the second']);
  expect(namesIn(await withCookie(ada, second).get('/v1/routines'))).toEqual(['of the second']);
  const foreign = await withCookie(bob, second).get('/v1/routines');
  expect(codeOf(foreign)).toEqual([404, 'project_not_found']);
});

test('when header and cookie disagree the header wins', proves('auth.project-selection'), async () => {
  const both = withCookie(ada, second).with({ 'X-Project-Id': ada.projectId });
  expect(namesIn(await both.get('/v1/routines'))).toEqual(['of the first']);
  const bad = withCookie(ada, second).with({ 'X-Project-Id': newId('project') });
  expect(codeOf(await bad.get('/v1/routines'))).toEqual([404, 'project_not_found']);
});

test.each([
  ['a foreign project', () => ada.projectId],
  ['an unknown project', () => newId('project')],
  ['a malformed id', () => 'not-an-id'],
  ['an id of another resource', () => bob.organizationId],
  ['an id that says it is SQL', () => "' or 1=1 --"],
])('%s as the selector is not found', async (_name, id) => {
  expect(codeOf(await inProject(bob, id()).get('/v1/routines'))).toEqual([404, 'project_not_found']);
});

test('a key reads its own project and needs no scope for it, and a session the selected one', async () => {
  const key = await ada.key(['models:read']);
  expect((await key.with({ 'X-Project-Id': second }).get('/v1/project')).data).toMatchObject({ id: ada.projectId });
  const selected = await inProject(ada, second).get('/v1/project');
  expect(selected.data).toMatchObject({ id: second, name: 'Second', organizationId: ada.organizationId });
  expect(codeOf(await inProject(bob, second).get('/v1/project'))).toEqual([404, 'project_not_found']);
  expect(codeOf(await service.anonymous.get('/v1/project'))).toEqual([401, 'authentication_required']);
});

test(
  'a key works in its own project, and header and cookie do not change that',
  proves('key.project', 'auth.bearer'),
  async () => {
    const key = await bob.key();
    const routineId = await createRoutine(key, { name: 'of the key' });
    const elsewhere = key.with({ 'X-Project-Id': second, Cookie: `ras_project=${second}` });
    expect(namesIn(await elsewhere.get('/v1/routines'))).toEqual(['of the key']);
    const foreign = await inProject(ada, second).get(`/v1/routines/${routineId}`);
    expect(codeOf(foreign)).toEqual([404, 'routine_not_found']);
  },
);

test('a mutation by session needs the Origin of the user interface', async () => {
  const body = { name: 'Acme' };
  for (const origin of ['https://evil.example', 'null', `${service.config.UI_ORIGIN}.evil.example`]) {
    const answer = await bob.session.with({ Origin: origin }).post('/v1/organizations', body);
    expect(codeOf(answer)).toEqual([403, 'origin_not_allowed']);
  }
  const { Origin: _origin, ...rest } = bob.session.headers;
  const without = await service.anonymous.with(rest).post('/v1/organizations', body);
  expect(codeOf(without)).toEqual([403, 'origin_not_allowed']);
  expect((await service.anonymous.with(rest).get('/v1/organizations')).status).toBe(200);
});

test.each(['ras.session_token=', 'ras.session_token=x.y', 'ras.session_token=%E0%A4%A', '=;;;='])(
  'the cookie %j signs in no one',
  async (cookie) => {
    const answer = await service.anonymous.with({ Cookie: cookie }).get('/v1/organizations');
    expect(codeOf(answer)).toEqual([401, 'authentication_required']);
  },
);

test('a session that was signed out is anonymous on the next request', async () => {
  const person = await signUp(service);
  expect((await person.session.post('/auth/sign-out')).status).toBe(200);
  const answer = await person.session.get('/v1/organizations');
  expect(codeOf(answer)).toEqual([401, 'authentication_required']);
});

function inProject(person: Person, projectId: string) {
  return person.session.with({ 'X-Project-Id': projectId });
}

function withCookie(person: Person, projectId: string) {
  const cookie = `${person.session.headers['Cookie']}; ras_project=${projectId}`;
  return person.session.with({ Cookie: cookie });
}

function namesIn(answer: Answer): string[] {
  return answer.data.map((routine: { name: string }) => routine.name);
}

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error.code];
}
