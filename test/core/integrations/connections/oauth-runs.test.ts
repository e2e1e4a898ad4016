import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { expireIn, signIn, startProtectedFixture, type ProtectedFixture } from './sign-in-fixture.ts';
import { confirm, marker, requestsWith, scriptCalls } from '#test/core/integrations/tools/support.ts';

let fixture: ProtectedFixture;

beforeAll(async () => {
  fixture = await startProtectedFixture({ worker: true });
});
afterAll(() => fixture?.close());

test('connect by signing in, discover, refuse, confirm, run, renew, and stop when the grant is revoked', async () => {
  const { service, person, authorizationServer, toolServer } = fixture;
  const { session } = person;
  const mark = marker();
  const { data: connection } = await signIn(session, 'tool-server', { url: toolServer.url });
  const routineId = await createRoutine(session, { instructions: mark });
  const discovered = await session.post(`/v1/routines/${routineId}/connections/${connection.id}/discover`);
  expect(discovered.status).toBe(200);

  // No tool is confirmed yet, so none is offered and a call is refused.
  scriptCalls(service, mark, { name: 'echo', arguments: { message: 'no' } });
  toolServer.bearers.length = 0;
  expect(await runOnce(session, routineId)).toMatchObject({ state: 'succeeded' });
  expect(toolServer.bearers).toEqual([]);

  const tools = discovered.data.tools;
  await confirm(session, { routineId, connectionId: connection.id, tools }, ['echo']);
  const expire = () => expireIn(service, connection.id, 0);
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
