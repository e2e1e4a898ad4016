import { expect } from 'vitest';
import { authOperations } from '#api/auth/operations.ts';
import { buildOpenApi } from '#api/docs/openapi.ts';
import { routes } from '#api/routes.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { newEmail, PASSWORD, postAuth, signInAgain, signUp } from '#test/support/people.ts';

const test = serviceTest().extend(
  'inMode',
  { scope: 'file' },
  ({ service }) =>
    async (mode: string, path: string, body: object) => {
      const replica = await service.replica({ SIGN_UP: mode });
      try {
        const response = await postAuth({ ...replica, config: service.config }, path, body);
        return [response.status, ((await response.json()) as Failure).error?.code];
      } finally {
        await replica.close();
      }
    },
);

const SIGN_UP = '/auth/sign-up/email';

test('where sign-up is closed every sign-up is refused, also with an invitation', async ({ service, inMode }) => {
  const { email } = await signUp(service);
  for (const address of [newEmail(), email]) {
    const body = { email: address, password: PASSWORD, name: 'Eve', invitation: 'inv_x' };
    expect(await inMode('closed', SIGN_UP, body)).toEqual([403, 'sign_up_closed']);
  }
});

test('where sign-up is by invitation it takes a token, of this very address, and no other', async ({
  service,
  ada,
  inMode,
}) => {
  const email = newEmail();
  const path = `/v1/organizations/${ada.organizationId}/invitations`;
  const { data } = await ada.session.post(path, { email });
  const body = { password: PASSWORD, name: 'Grace' };
  const refused = [403, 'invitation_required'];
  expect(await inMode('invited', SIGN_UP, { ...body, email })).toEqual(refused);
  const other = { ...body, email: newEmail(), invitation: data.token };
  expect(await inMode('invited', SIGN_UP, other)).toEqual(refused);
  const wrong = { ...body, email, invitation: `${data.token}x` };
  expect(await inMode('invited', SIGN_UP, wrong)).toEqual(refused);
  const right = { ...body, email, invitation: data.token };
  expect(await inMode('invited', SIGN_UP, right)).toEqual([200, undefined]);
  expect(service.config.SIGN_UP).toBe('open');
});

test('signing up does not reveal whether an address has an account, without a mail server too', async ({ service }) => {
  const { email } = await signUp(service);
  const shape = async (address: string) => {
    const body = { email: address, password: PASSWORD, name: 'Eve' };
    const response = await postAuth(service, SIGN_UP, body);
    const { user } = (await response.json()) as { user: object };
    return [response.status, response.headers.getSetCookie(), Object.keys(user)];
  };
  expect(await shape(email)).toEqual(await shape(newEmail()));
  const wrong = { email, password: 'another-long-password' };
  expect((await postAuth(service, '/auth/sign-in/email', wrong)).status).toBe(401);
});

test('a limit of sign-ins says when to come back', async ({ service }) => {
  const headers = { 'X-Forwarded-For': '198.51.100.77' };
  const guess = () =>
    postAuth(service, '/auth/sign-in/email', { email: newEmail(), password: 'wrong-password' }, headers);
  let last = await guess();
  for (let index = 0; index < 10 && last.status === 401; index += 1) last = await guess();
  expect(last.status).toBe(429);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(((await last.json()) as Failure).error.code).toBe('rate_limited');
});

test('a body under /auth has at most 16 kB, and a name is one short line', async ({ service }) => {
  const refusal = async (fields: object) => {
    const body = { email: newEmail(), password: PASSWORD, name: 'Eve', ...fields };
    const response = await postAuth(service, SIGN_UP, body);
    return [response.status, ((await response.json()) as Failure).error.code];
  };
  expect(await refusal({ name: 'x'.repeat(17_000) })).toEqual([413, 'body_too_large']);
  for (const name of ['x'.repeat(101), '', '  ', 'two\nlines', 'nul\u0000', 'esc\u001b[31m']) {
    expect(await refusal({ name })).toEqual([400, 'invalid_request']);
  }
  expect(await refusal({ image: 'https://example.com/x.png' })).toEqual([400, 'invalid_request']);
});

test('a body that is announced as too large is refused before it is sent', async ({ service }) => {
  const { Socket } = await import('node:net');
  const socket = new Socket();
  const { port } = new URL(service.url);
  const answer = await new Promise<string>((resolve, reject) => {
    socket.once('error', reject).once('data', (data) => resolve(data.toString()));
    socket.connect(Number(port), '127.0.0.1', () =>
      socket.write(
        `POST ${SIGN_UP} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20000\r\n\r\n`,
      ),
    );
  });
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

test('what is not documented under /auth does not exist, and what is documented does', async ({ service }) => {
  const unsupported = [
    ['POST', '/auth/sign-in/social'],
    ['POST', '/auth/link-social'],
    ['GET', '/auth/list-sessions'],
    ['POST', '/auth/revoke-sessions'],
    ['GET', '/auth/list-accounts'],
    ['GET', '/auth/ok'],
    ['GET', '/auth/error'],
    ['POST', '/auth/set-password'],
    ['GET', '/auth/delete-user/callback'],
    ['GET', '/auth'],
  ] as const;
  for (const [method, path] of unsupported) {
    const { status, body } = await service.anonymous.send(method, path);
    expect([path, status, body.error.code]).toEqual([path, 404, 'route_not_found']);
  }
  const document = buildOpenApi(routes, { publicUrl: service.url, productTag: 'ras' });
  const documented = Object.keys(document.paths ?? {}).filter((path) => path.startsWith('/auth/'));
  expect(documented).toEqual(authOperations.map(({ path }) => `/auth${path}`));
  for (const { method, path } of authOperations) {
    const other = method === 'GET' ? 'POST' : 'GET';
    const { status, headers } = await service.anonymous.send(other, `/auth${path}`);
    expect([path, status, headers.get('allow')]).toEqual([path, 405, method]);
    const client = service.anonymous.with({ Origin: service.config.UI_ORIGIN });
    const served = await client.send(method, `/auth${path}`, method === 'POST' ? {} : undefined);
    expect([path, served.status]).not.toEqual([path, 404]);
  }
});

test('a person founds only so many organizations, however many requests ask at once', async ({ service }) => {
  const person = await signUp(service);
  const replica = await service.replica({ MAX_ORGANIZATIONS_PER_PERSON: '3' });
  try {
    const client = person.session.at(replica.url);
    const found = (index: number) => client.post('/v1/organizations', { name: `Number ${index}` });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => found(index)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 201, 409, 409, 409, 409, 409, 409]);
    const codes = answers.flatMap(({ body }) => body.error?.code ?? []);
    expect(new Set(codes)).toEqual(new Set(['limit_reached']));
  } finally {
    await replica.close();
  }
});

test('who deletes their organizations and signs in again is given no more of them', async ({ service }) => {
  const replica = await service.replica({ MAX_ORGANIZATIONS_PER_PERSON: '2' });
  try {
    const there = { url: replica.url, config: service.config };
    const person = await signUp(there);
    const leave = async (session: ApiClient) => {
      const [own] = (await session.get('/v1/organizations')).data;
      const confirm = encodeURIComponent(own.name);
      const { status } = await session.delete(`/v1/organizations/${own.id}?confirm=${confirm}`);
      expect(status).toBe(200);
    };
    await leave(person.session);
    // The next sign-in makes a second organization in place of the first; a third sign-in makes none.
    const again = await signInAgain(there, person);
    await leave(again);
    const third = await signInAgain(there, person);
    expect((await third.get('/v1/organizations')).data).toEqual([]);
    const refused = await third.post('/v1/organizations', { name: 'A third' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'limit_reached']);
    expect((await third.get('/v1/projects')).data).toEqual([]);
  } finally {
    await replica.close();
  }
});

interface Failure {
  readonly error: { readonly code: string };
}
