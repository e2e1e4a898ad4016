import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConnection } from '#core/integrations/connections/index.ts';
import { ALL_SCOPES, TOOLS_SCOPE, WRITE_SCOPE } from '#dev/fakes/authorization-server/scope.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import {
  signIn,
  startProtectedFixture,
  storedGrant,
  comeBack,
  returnFrom,
  type ProtectedFixture,
} from './sign-in-fixture.ts';
import {
  confirm,
  marker,
  requestsWith,
  routineWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';

let fixture: ProtectedFixture;
let { service, person, toolServer, authorizationServer } = {} as ProtectedFixture;

beforeAll(async () => {
  fixture = await startProtectedFixture({ worker: true });
  ({ service, person, toolServer, authorizationServer } = fixture);
});
afterAll(() => fixture?.close());
beforeEach(() => {
  toolServer.control.callScope = undefined;
  authorizationServer.control.agreedTo = ALL_SCOPES;
});

function scopesOf(url: string) {
  return new URL(url).searchParams.get('scope')?.split(' ');
}

async function signInAgain(connectionId: string): Promise<Json> {
  return (await signIn(person.session, 'tool-server', { connectionId })).data;
}

async function read(connectionId: string): Promise<Json> {
  const { data } = await person.session.get('/v1/connections');
  return data.find(({ id }: Json) => id === connectionId);
}

async function connected(): Promise<{ id: string; call: () => Promise<Json>; mark: string }> {
  const { session } = person;
  const { data, ...response } = await signIn(session, 'tool-server', { url: toolServer.url });
  expect(response).toMatchObject({ status: 200 });
  const mark = marker();
  const routineId = await createRoutine(session, { instructions: mark });
  const discover = `/v1/routines/${routineId}/connections/${data.id}/discover`;
  const { tools } = (await session.post(discover)).data;
  await confirm(session, { routineId, connectionId: data.id, tools }, ['echo']);
  const call = () => {
    scriptCalls(service, mark, { name: 'echo', arguments: { message: 'hello' } });
    return runOnce(session, routineId);
  };
  return { id: data.id, call, mark };
}

const NEEDS_SCOPES = {
  state: 'needs_reauthorization',
  error: {
    code: 'scopes_missing',
    message: 'The sign-in lacks a permission that the provider asks for; connect again.',
  },
};

test('a call that needs another scope asks for a new sign-in, blocks runs, and works after it', async () => {
  const { id, call, mark } = await connected();
  expect((await read(id)).scopes).not.toContain(WRITE_SCOPE);
  toolServer.control.callScope = WRITE_SCOPE;
  const [step] = toolSteps(await call());
  expect(step).toMatchObject({ state: 'failed' });
  expect(JSON.stringify(step)).toContain('requires a sign-in');
  expect(await read(id)).toMatchObject(NEEDS_SCOPES);

  const asked = requestsWith(service, mark).length;
  expect(await call()).toMatchObject({ state: 'failed', reason: 'blocked_connection' });
  expect(requestsWith(service, mark)).toHaveLength(asked);

  const start = '/v1/connections/oauth/tool-server/start';
  const started = await person.session.post(start, { connectionId: id });
  expect(new Set(scopesOf(started.data.authorizationUrl))).toEqual(
    new Set([TOOLS_SCOPE, 'offline_access', WRITE_SCOPE]),
  );
  const again = await signInAgain(id);
  expect(again).toMatchObject({ id, state: 'ready', error: null });
  expect(again.scopes.toSorted()).toEqual([TOOLS_SCOPE, WRITE_SCOPE]);
  const [works] = toolSteps(await call());
  expect(works).toMatchObject({ state: 'succeeded' });

  // The scope is remembered: the next sign-in asks for it too.
  const later = await person.session.post(start, { connectionId: id });
  expect(scopesOf(later.data.authorizationUrl)).toContain(WRITE_SCOPE);
});

test('a scope that was asked for and not granted fails its calls, and asks for no sign-in again', async () => {
  const { id, call } = await connected();
  toolServer.control.callScope = WRITE_SCOPE;
  await call();
  expect(await read(id)).toMatchObject(NEEDS_SCOPES);
  authorizationServer.control.agreedTo = TOOLS_SCOPE;
  await signInAgain(id);
  const [step] = toolSteps(await call());
  expect(step).toMatchObject({ state: 'failed' });
  expect(await read(id)).toMatchObject({ state: 'ready', error: null });
});

test('a sign-in that was begun before a scope was demanded leaves it to be demanded again', async () => {
  const { id, call } = await connected();
  const { data: early } = await person.session.post('/v1/connections/oauth/tool-server/start', {
    connectionId: id,
  });
  toolServer.control.callScope = WRITE_SCOPE;
  await call();
  await comeBack(person.session, await returnFrom(early.authorizationUrl));
  expect(await read(id)).toMatchObject({ state: 'ready' });
  await call();
  expect(await read(id)).toMatchObject(NEEDS_SCOPES);
});

test('another sign-in that came meanwhile is used instead, and none is asked for', async () => {
  const { id } = await connected();
  const { deps } = service;
  const connection = await readConnection(deps.database, person.projectId, id);
  const used = await deps.credentials.headers(connection, new AbortController().signal);
  await signInAgain(id);
  const other = await deps.credentials.refused(connection, used, new AbortController().signal, [WRITE_SCOPE]);
  expect(other?.['authorization']).toMatch(/^Bearer /);
  expect(other).not.toEqual(used);
  expect(await read(id)).toMatchObject({ state: 'ready' });
});

test('a typed-in token that lacks a scope takes its connection out of use as well', async () => {
  const { session } = person;
  const { accessToken } = await storedGrant(service, (await connected()).id);
  const mark = marker();
  const found = await routineWith(session, ['echo'], {
    connection: { url: toolServer.url, bearerToken: accessToken },
    routine: { instructions: mark },
  });
  toolServer.control.callScope = WRITE_SCOPE;
  scriptCalls(service, mark, { name: 'echo', arguments: { message: 'hello' } });
  await runOnce(session, found.routineId);
  expect(await read(found.connectionId)).toMatchObject(NEEDS_SCOPES);
});
