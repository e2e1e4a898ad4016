import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startProtectedToolServer,
  type ProtectedToolServer,
} from '#dev/authorization-server/protected-tool-server.ts';
import {
  startAuthorizationServer,
  type AuthorizationServer,
} from '#dev/authorization-server/server.ts';
import { rows, sql } from '#lib/database/index.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { startEverythingServer, type EverythingServer } from './everything-server.ts';
import { signIn, UI_ORIGIN } from './sign-in-fixture.ts';
import { confirm, marker, requestsWith, scriptCalls } from './support.ts';

let service: Service;
let authorizationServer: AuthorizationServer;
let everything: EverythingServer;
let toolServer: ProtectedToolServer;
let person: Person;

beforeAll(async () => {
  [service, authorizationServer, everything] = await Promise.all([
    startService({ worker: true, env: { UI_ORIGIN } }),
    startAuthorizationServer({ port: 0 }),
    startEverythingServer(),
  ]);
  const upstream = everything.url;
  toolServer = await startProtectedToolServer({ port: 0, authorizationServer, upstream });
  person = await signUp(service);
});
afterAll(async () => {
  await service?.close();
  await toolServer?.stop();
  await authorizationServer?.stop();
  await everything?.stop();
});

test('connect by signing in, discover, refuse, confirm, run, renew, and stop when the grant is revoked', async () => {
  const { session } = person;
  const mark = marker();
  const { data: connection } = await signIn(session, 'tool-server', { url: toolServer.url });
  const routineId = await createRoutine(session, { instructions: mark });
  const discovered = await session.post(
    `/v1/routines/${routineId}/connections/${connection.id}/discover`,
  );
  expect(discovered.status).toBe(200);

  // Nobody has agreed to a tool yet: none is offered, and a call is refused.
  scriptCalls(service, mark, { name: 'echo', arguments: { message: 'no' } });
  toolServer.bearers.length = 0;
  expect(await runOnce(session, routineId)).toMatchObject({ state: 'succeeded' });
  expect(toolServer.bearers).toEqual([]);

  const tools = discovered.data.tools;
  await confirm(session, { routineId, connectionId: connection.id, tools }, ['echo']);
  const expire = () =>
    rows(
      service.deps.database,
      sql`update connections set credentials_expire_at = now() where id = ${connection.id}`,
    );
  await expire();
  authorizationServer.control.tokenRequests.length = 0;
  scriptCalls(service, mark, { name: 'echo', arguments: { message: 'hello' } });
  const run = await runOnce(session, routineId);
  expect(run.steps[1].tool).toMatchObject({ toolName: 'echo', result: 'Echo: hello' });
  expect(authorizationServer.control.tokenRequests).toEqual(['refresh_token']);
  const bearers = [...new Set(toolServer.bearers)];
  expect(bearers).toHaveLength(1);
  expect(JSON.stringify(run)).not.toContain(bearers[0]);

  await authorizationServer.control.revokeAll();
  await expire();
  const asked = requestsWith(service, mark).length;
  const blocked = await runOnce(session, routineId);
  expect(blocked).toMatchObject({ state: 'failed', reason: 'blocked_connection', stepCount: 0 });
  expect(requestsWith(service, mark)).toHaveLength(asked);
  const listed = await session.get('/v1/connections');
  expect(listed.data[0]).toMatchObject({
    id: connection.id,
    state: 'needs_reauthorization',
    error: { code: 'authorization_expired' },
  });
});
