import {
  Client,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { approveAsked, connect, enterAssistant } from '#test/support/assistants.ts';
import { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { assistantOf, dataOf } from './support.ts';

const test = serviceTest();
const BUILD = ['routines:read', 'routines:write', 'runs:read', 'runs:write'];

function bearer(url: string, token: string) {
  return new ApiClient(url, { Authorization: `Bearer ${token}` });
}

test('a client that knows the address alone finds where to sign in, and acts for the person', async ({ service }) => {
  const ada = await signUp(service);
  const { clientId, redirectUri, name } = await enterAssistant(service);
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let asked: URL | undefined;
  const authProvider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri] },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    redirectToAuthorization: (url) => void (asked = url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
  };
  const open = () => new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { authProvider });
  const first = open();
  const client = () => new Client({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await expect(client().connect(first)).rejects.toThrow(/unauthorized/i);
  expect(asked?.searchParams.get('resource')).toBe(`${service.url}/mcp`);

  const led = await fetch(asked ?? '', { redirect: 'manual' });
  const { searchParams } = new URL(led.headers.get('location') ?? '');
  const oauthQuery = searchParams.get('request') ?? '';
  const { data } = await approveAsked(ada, { oauthQuery }, BUILD);
  await first.finishAuth(new URL(data.redirectTo).searchParams);

  const connected = client();
  await connected.connect(open());
  const { tools } = await connected.listTools();
  expect(tools.map((tool) => tool.name)).toContain('create_routine');
  expect(tools.map((tool) => tool.name)).not.toContain('list_connections');
  await connected.close();

  const assistant = await assistantOf(bearer(service.url, tokens?.access_token ?? ''));
  const routineId = await createRoutine(await ada.key());
  await assistant.call('update_routine', { routineId, instructions: 'Write two lines.' });
  const [event] = await service.deps.database.rows<{ kind: string; id: string; details: unknown }>`
    select actor_kind as kind, actor_id as id, details from audit_events
    where target_id = ${routineId} and details ? 'via'
  `;
  expect(event).toMatchObject({
    kind: 'person',
    id: ada.userId,
    details: { via: 'mcp', client: name },
  });
  await assistant.close();
});

test('a consent to read lists and allows reading alone, and ends when it is revoked', async ({ service }) => {
  const ada = await signUp(service);
  const routineId = await createRoutine(await ada.key());
  const { body } = await connect(await enterAssistant(service), ada, ['routines:read']);
  const client = bearer(service.url, body.access_token);
  const assistant = await assistantOf(client);
  expect(dataOf(await assistant.call('read_routine', { routineId })).id).toBe(routineId);
  expect((await assistant.call('archive_routine', { routineId })).text).toMatch(/^insufficient_scope/);

  const person = ada.session.with({ 'X-Project-Id': ada.projectId });
  const { data } = await person.get('/v1/assistants');
  expect(await person.delete(`/v1/assistants/${data[0].id}`)).toMatchObject({ status: 200 });
  const refused = await client.post('/mcp', {});
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp", error="invalid_token"`,
  );
  await assistant.close().catch(() => undefined);
});

test('a consent that is taken back while a call waits reads nothing any more', async ({ service }) => {
  const ada = await signUp(service);
  const { body } = await connect(await enterAssistant(service), ada, ['runs:read']);
  const assistant = await assistantOf(bearer(service.url, body.access_token));
  const key = await ada.key();
  // Without a worker the run stays queued.
  const { data: run } = await key.post(`/v1/routines/${await createRoutine(key)}/run`, {});
  const call = assistant.call('wait_for_run', { runId: run.id, timeoutSeconds: 50 });
  await expect.poll(() => service.deps.runFeed.streams()).toBe(1);
  const asAda = ada.session.with({ 'X-Project-Id': ada.projectId });
  const [grant] = (await asAda.get('/v1/assistants')).data;
  expect(await asAda.delete(`/v1/assistants/${grant.id}`)).toMatchObject({ status: 200 });
  await key.post(`/v1/runs/${run.id}/cancel`);
  const answer = await call;
  expect(answer).toMatchObject({ isError: true });
  expect(answer.text).toMatch(/^authentication_required: /);
});

test('the token of an assistant is worth nothing on /v1', async ({ service }) => {
  const ada = await signUp(service);
  const { body } = await connect(await enterAssistant(service), ada, ['routines:read']);
  expect(await bearer(service.url, body.access_token).get('/v1/routines')).toMatchObject({
    status: 401,
  });
});

test('a project that has switched MCP off refuses its keys and its assistants there, and keys work on /v1', async ({
  service,
}) => {
  const ada = await signUp(service);
  const key = await ada.key();
  const { body } = await connect(await enterAssistant(service), ada, ['routines:read']);
  const changed = await ada.session.patch(`/v1/projects/${ada.projectId}`, { mcpEnabled: false });
  expect(changed.status).toBe(200);
  expect(await key.post('/mcp', {})).toMatchObject({
    status: 403,
    body: { error: { message: expect.stringContaining('switched MCP off') } },
  });
  expect(await bearer(service.url, body.access_token).post('/mcp', {})).toMatchObject({
    status: 401,
  });
  expect(await key.get('/v1/routines')).toMatchObject({ status: 200 });
});
