import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRoutine } from '#test/support/routines.ts';
import { expireIn, signIn, startProtectedFixture, type ProtectedFixture } from './sign-in-fixture.ts';

const KEY = 'canary-beside-the-sign-in';

let fixture: ProtectedFixture;
/** Paths of the requests to the tool server, which runs in this process. */
const asked: string[] = [];
const requests = channel('http.server.request.start');
function note(message: unknown) {
  const { url = '', headers } = (message as { request: IncomingMessage }).request;
  if (url.startsWith('/mcp') && fixture.toolServer.url.includes(headers.host ?? '-')) asked.push(url);
}

beforeAll(async () => {
  fixture = await startProtectedFixture();
  requests.subscribe(note);
});
afterAll(async () => {
  requests.unsubscribe(note);
  await fixture.close();
});
beforeEach(() => {
  asked.length = 0;
});

test('a server that wants a key in its address besides a sign-in gets it at every step, and no response shows it', async () => {
  const { person, toolServer, authorizationServer, service } = fixture;
  const { session } = person;
  const url = `${toolServer.url}?api_key=${KEY}`;
  const started = await session.post('/v1/connections/oauth/tool-server/start', { url });
  expect(started.status).toBe(200);
  expect(JSON.stringify(started.body)).not.toContain(KEY);
  const signedIn = await signIn(session, 'tool-server', { url });
  expect(signedIn.data).toMatchObject({
    url: `${toolServer.url}?api_key=[redacted]`,
    name: '127.0.0.1',
    state: 'ready',
  });
  const { id } = signedIn.data;
  const stored = await service.deps.database.query('select * from connections where id = $1', [id]);
  expect(stored.rows).toHaveLength(1);
  expect(JSON.stringify([stored.rows, signedIn.body])).not.toContain(KEY);

  const routineId = await createRoutine(session);
  const discover = () => session.post(`/v1/routines/${routineId}/connections/${id}/discover`);
  expect((await discover()).status).toBe(200);
  await authorizationServer.control.revokeAll();
  await expireIn(service, id, 0);
  expect((await discover()).body.error.code).toBe('connection_not_ready');
  const again = await signIn(session, 'tool-server', { connectionId: id });
  expect(again.data).toMatchObject({ id, state: 'ready' });
  expect((await discover()).status).toBe(200);
  expect(new Set(asked)).toEqual(new Set([`/mcp?api_key=${KEY}`]));
});
