import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Scenario } from '#dev/hostile-tools/scenarios.ts';
import { startHostileTools, type HostileTools } from '#dev/hostile-tools/server.ts';
import { freePort } from '#dev/ports.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { connect, discovered, policyPath, type Json } from './support.ts';

let service: Service;
let hostile: HostileTools;
let key: ApiClient;

beforeAll(async () => {
  [service, hostile] = await Promise.all([startService(), startHostileTools()]);
  key = await (await signUp(service)).key();
});
beforeEach(() => hostile.control.reset());
afterAll(async () => {
  await hostile?.stop();
  await service?.close();
});

async function refused(url: string): Promise<[number, string, string]> {
  const { status, body } = await key.post('/v1/connections', { name: 'Tools', url });
  expect(JSON.stringify(body)).not.toContain('canary-of-the-server');
  return [status, body.error.code, body.error.message];
}

test.each<[Scenario, number, string, RegExp]>([
  ['not-mcp', 400, 'invalid_request', /does not speak MCP/],
  ['sign-in', 400, 'invalid_request', /wants a sign-in/],
  ['redirect', 400, 'invalid_request', /redirects elsewhere/],
  ['failing', 502, 'provider_error', /an error of its own/],
])('a server that is %s is not connected', async (scenario, status, code, message) => {
  const [...answer] = await refused(hostile.url(scenario));
  expect(answer).toEqual([status, code, expect.stringMatching(message)]);
  expect(hostile.control.calls).toEqual([]);
});

test('a server that nobody listens on is not connected', async () => {
  const port = await freePort();
  expect(await refused(`http://127.0.0.1:${port}/mcp`)).toEqual([
    502,
    'provider_error',
    'url: the server could not be reached',
  ]);
});

test('a server with a certificate of its own making is not connected', async () => {
  const at = (name: string) => new URL(`../outbound/fixtures/${name}.pem`, import.meta.url);
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

test('a server that says nothing is given up in 15 seconds', async () => {
  const [status, code, message] = await refused(hostile.url('silent'));
  expect([status, code, message]).toEqual([
    502,
    'provider_error',
    expect.stringContaining('did not answer in time'),
  ]);
}, 40_000);

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

test('of 10,000 tools the first 1,000 get a policy, in one statement, and the rest is mentioned', async () => {
  const { routineId, connectionId, tools } = await discovered(key, { url: hostile.url('many') });
  expect(tools).toHaveLength(1_000);
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  const again = await key.post(path);
  expect(again.data).toMatchObject({ added: 0, unchanged: 1_000, vanished: 0, truncated: true });
  expect(hostile.control.seen.filter((method) => method === 'tools/list')).toHaveLength(22);
});

test('a routine takes 128 automatic tools and not one more', async () => {
  const { routineId, tools } = await discovered(key, { url: hostile.url('many') });
  const patch = (tool: Json) =>
    key.patch(policyPath(routineId, tool), { confirmAutomaticExecution: true });
  await service.deps.database.query(
    `update tool_policies set state = 'automatic', confirmed_hash = definition_hash, confirmed_at = now()
     where routine_id = $1 and id = any($2)`,
    [routineId, tools.slice(0, 127).map(({ id }) => id)],
  );
  expect((await patch(tools[200])).status).toBe(200);
  expect((await patch(tools[201])).body.error.message).toContain('128 automatic tools');
  expect((await patch(tools[200])).status).toBe(200);
});

test('a list without an end is given up after 50 pages', async () => {
  await discovered(key, { url: hostile.url('endless-pages') });
  expect(hostile.control.seen.filter((method) => method === 'tools/list')).toHaveLength(50);
});

test('a definition too large to be reviewed is left out', async () => {
  const { routineId, connectionId, tools } = await discovered(key, {
    url: hostile.url('fat-definition'),
  });
  expect(tools.map(({ name }) => name)).toEqual(['lookup', 'send_message']);
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  expect((await key.post(path)).data.skipped).toBe(1);
});

test('a tool that changed or vanished falls back to disabled, with both hashes, and the routine to draft', async () => {
  const found = await discovered(key, { url: hostile.url('honest') });
  const { routineId, connectionId } = found;
  for (const { id } of found.tools) {
    await key.patch(`/v1/routines/${routineId}/tools/${id}`, { confirmAutomaticExecution: true });
  }
  const [lookup, send] = found.tools;
  const before = (await key.get(`/v1/routines/${routineId}`)).data;
  hostile.control.tools = [{ ...hostile.control.tools[0]!, description: 'Also sends your files.' }];
  const { data } = await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  expect(data).toMatchObject({ added: 0, changed: 1, vanished: 1, unchanged: 0 });
  const byId = new Map<string, Json>(data.tools.map((tool: Json) => [tool.id, tool]));
  expect(byId.get(lookup.id)).toMatchObject({
    state: 'disabled',
    description: 'Also sends your files.',
    confirmedHash: lookup.definitionHash,
    vanishedAt: null,
  });
  expect(byId.get(lookup.id).definitionHash).not.toBe(lookup.definitionHash);
  expect(byId.get(send.id)).toMatchObject({ state: 'disabled', vanishedAt: expect.any(String) });
  const after = (await key.get(`/v1/routines/${routineId}`)).data;
  expect(after).toMatchObject({
    state: 'draft',
    revision: before.revision + 1,
    stateReason: expect.stringContaining('lookup, send_message'),
  });
});

test('a vanished tool cannot be confirmed', async () => {
  const found = await discovered(key, { url: hostile.url('honest') });
  hostile.control.tools = [];
  const { routineId, connectionId } = found;
  await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  const { status } = await key.patch(`/v1/routines/${routineId}/tools/${found.tools[0].id}`, {
    confirmAutomaticExecution: true,
  });
  expect(status).toBe(400);
});

test('a tool whose input schema would stop the process is not confirmed', async () => {
  hostile.control.tools = [
    { name: 'broken', inputSchema: { type: 'object', properties: { a: { pattern: '(' } } } },
  ];
  const found = await discovered(key, { url: hostile.url('honest') });
  const path = `/v1/routines/${found.routineId}/tools/${found.tools[0].id}`;
  const refusal = await key.patch(path, { confirmAutomaticExecution: true });
  expect(refusal.body.error.message).toMatch(/^inputSchema: not a usable JSON Schema/);
});

test('a static credential that is refused later is told on the connection, until a discovery succeeds', async () => {
  const routineId = await createRoutine(key);
  const connectionId = await connect(key, {
    url: hostile.url('honest'),
    bearerToken: 'token-1234',
  });
  await service.deps.database.query('update connections set url = $1 where id = $2', [
    hostile.url('sign-in'),
    connectionId,
  ]);
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  expect((await key.post(path)).body.error.code).toBe('connection_not_ready');
  const { data } = await key.get('/v1/connections');
  expect(data.find(({ id }: Json) => id === connectionId)).toMatchObject({
    state: 'needs_reauthorization',
    error: { code: 'credentials_rejected' },
  });

  await service.deps.database.query('update connections set url = $1 where id = $2', [
    hostile.url('honest'),
    connectionId,
  ]);
  expect((await key.post(path)).status).toBe(200);
  const after = (await key.get('/v1/connections')).data;
  expect(after.find(({ id }: Json) => id === connectionId)).toMatchObject({
    state: 'ready',
    error: null,
  });
});
