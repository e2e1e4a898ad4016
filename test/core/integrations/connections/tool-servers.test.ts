import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Scenario } from '#dev/fakes/hostile-tools/scenarios.ts';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { connect, type Json } from '#test/core/integrations/tools/support.ts';
import { changeConnections } from '#test/support/given.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

let service: Service;
let hostile: HostileTools;
let key: ApiClient;

beforeAll(async () => {
  [service, hostile] = await Promise.all([sharedService(), startHostileTools()]);
  key = await (await signUp(service)).key();
});
beforeEach(() => hostile.control.reset());
afterAll(async () => {
  await hostile?.stop();
});

async function refused(url: string): Promise<[number, string, string]> {
  const { status, body } = await key.post('/v1/connections', { name: 'Tools', url });
  expect(JSON.stringify(body)).not.toContain('canary-of-the-server');
  return [status, body.error.code, body.error.message];
}

test.each<[Scenario, number, string, RegExp]>([
  ['not-mcp', 400, 'invalid_request', /does not speak MCP/],
  ['sign-in', 400, 'invalid_request', /requires a sign-in/],
  ['redirect', 400, 'invalid_request', /redirects to another address/],
  ['failing', 502, 'provider_error', /an error of its own/],
])('a server that is %s is not connected', async (scenario, status, code, message) => {
  const [...answer] = await refused(hostile.url(scenario));
  expect(answer).toEqual([status, code, expect.stringMatching(message)]);
  expect(hostile.control.calls).toEqual([]);
});

test('an address without a listener is not connected', async () => {
  const port = await freePort();
  expect(await refused(`http://127.0.0.1:${port}/mcp`)).toEqual([
    502,
    'provider_error',
    'url: the server could not be reached',
  ]);
});

test('a server with a certificate of its own making is not connected', async () => {
  const at = (name: string) => new URL(`../../../lib/outbound/fixtures/${name}.pem`, import.meta.url);
  const server = createServer({
    cert: readFileSync(at('certificate')),
    key: readFileSync(at('key')),
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  try {
    const [status, , message] = await refused(`https://localhost:${port}/mcp`);
    expect([status, message]).toEqual([400, expect.stringContaining('certificate')]);
  } finally {
    server.close();
  }
});

test.runIf(FULL_SIZE)('a server that says nothing is given up in 15 seconds', async () => {
  const [status, code, message] = await refused(hostile.url('silent'));
  expect([status, code, message]).toEqual([502, 'provider_error', expect.stringContaining('did not answer in time')]);
});

test('addresses that are not public are refused before anything is sent', async () => {
  const guarded = await service.replica({ ALLOW_PRIVATE_NETWORK: 'false' });
  try {
    for (const url of [
      hostile.url('honest'),
      hostile.url('honest').replace('http:', 'https:'),
      'https://2130706433/mcp',
      'https://[::ffff:127.0.0.1]/mcp',
      'https://[64:ff9b::7f00:1]/mcp',
      'https://169.254.169.254/latest/meta-data',
      'https://metadata.internal/mcp',
      'https://user:secret@example.com/mcp',
      'file:///etc/passwd',
      'not a url',
    ]) {
      const answer = await fetch(`${guarded.url}/v1/connections`, {
        method: 'POST',
        headers: { ...key.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Tools', url }),
      });
      const { error } = (await answer.json()) as Json;
      expect([url, answer.status, error.code]).toEqual([url, 400, 'invalid_request']);
    }
    expect(hostile.control.seen).toEqual([]);
  } finally {
    await guarded.close();
  }
});

test('headers of a request cannot be set as credentials', async () => {
  for (const name of ['Host', 'Content-Length', 'mcp-session-id', 'Accept', 'Bad Name']) {
    const { status } = await key.post('/v1/connections', {
      name: 'Tools',
      url: hostile.url('honest'),
      headers: { [name]: 'x' },
    });
    expect([name, status]).toEqual([name, 400]);
  }
  expect(hostile.control.seen).toEqual([]);
});

test('a static credential that is refused later is told on the connection, until a discovery succeeds', async () => {
  const routineId = await createRoutine(key);
  const connectionId = await connect(key, {
    url: hostile.url('honest'),
    bearerToken: 'token-1234',
  });
  await changeConnections(service.deps.database, connectionId, { url: hostile.url('sign-in') });
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  expect((await key.post(path)).body.error.code).toBe('connection_not_ready');
  const { data } = await key.get('/v1/connections');
  expect(data.find(({ id }: Json) => id === connectionId)).toMatchObject({
    state: 'needs_reauthorization',
    error: { code: 'credentials_rejected' },
  });

  await changeConnections(service.deps.database, connectionId, { url: hostile.url('honest') });
  expect((await key.post(path)).status).toBe(200);
  const after = (await key.get('/v1/connections')).data;
  expect(after.find(({ id }: Json) => id === connectionId)).toMatchObject({
    state: 'ready',
    error: null,
  });
});
