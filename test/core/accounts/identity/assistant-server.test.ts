import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { approveAsked, assistantOf, codeOf, exchange } from '#test/support/assistants.ts';
import { fromElsewhere } from '#test/support/people.ts';

const test = serviceTest({
  own: true,
  env: { OAUTH_CLIENT_REGISTRATION_ENABLED: 'true' },
}).extend('register', ({ service }) => async (body: object) => {
  const response = await fetch(`${service.url}/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...fromElsewhere() },
    body: JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
  return { status: response.status, body: (await response.json()) as any };
});

test('the documents name our public address, also where another host is asked for', async ({ service }) => {
  const { url } = service;
  const read = async (path: string) => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
    const response = await fetch(`${url}${path}`, { headers });
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    return response.json();
  };
  expect(await read('/.well-known/oauth-protected-resource/mcp')).toEqual({
    resource: `${url}/mcp`,
    authorization_servers: [`${url}/auth`],
    scopes_supported: expect.arrayContaining(['runs:read', 'routines:write']),
    bearer_methods_supported: ['header'],
  });
  for (const [root, path] of [
    ['oauth-protected-resource', 'mcp'],
    ['oauth-authorization-server', 'auth'],
  ]) {
    expect(await read(`/.well-known/${root}`)).toEqual(await read(`/.well-known/${root}/${path}`));
  }
  expect(await read('/.well-known/oauth-authorization-server/auth')).toMatchObject({
    issuer: `${url}/auth`,
    authorization_endpoint: `${url}/auth/oauth2/authorize`,
    token_endpoint: `${url}/auth/oauth2/token`,
    revocation_endpoint: `${url}/auth/oauth2/revoke`,
    registration_endpoint: `${url}/auth/oauth2/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
  });
});

test('an assistant that registers itself is public, says nothing that counts, and is shown as unverified', async ({
  service,
  ada,
  register,
}) => {
  const redirectUri = 'https://evil.example/callback';
  const { status, body } = await register({
    client_name: 'Your\u202e bank  ',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['client_credentials'],
    skip_consent: true,
    scope: 'runs:read',
    logo_uri: 'https://bank.example/logo.png',
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    client_id: expect.any(String),
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [redirectUri],
  });
  expect(body.client_secret).toBeUndefined();
  const [stored] = await service.deps.database.rows`
    select skip_consent as "skipConsent", is_dynamic as "isDynamic", icon, client_secret as secret
    from oauth_clients where client_id = ${body.client_id}
  `;
  expect(stored).toEqual({ skipConsent: null, isDynamic: true, icon: null, secret: null });

  const assistant = assistantOf(service, { clientId: body.client_id, name: '', redirectUri });
  const asked = await assistant.ask();
  const { oauthQuery } = asked;
  const { data: shown } = await ada.session.post('/v1/assistant-consents/read', { oauthQuery });
  expect(shown).toMatchObject({
    clientName: 'Your bank',
    isVerified: false,
    redirectHost: 'evil.example',
  });
  const { data } = await approveAsked(ada, asked);
  const given = await exchange(assistant, asked, codeOf(data.redirectTo));
  expect(given.status).toBe(200);
});

test('addresses that lead to nowhere safe are not registered', async ({ service, register }) => {
  for (const uri of [
    'http://assistant.example/callback',
    'javascript:alert(1)',
    'https://assistant.example/callback#x',
    'https://user@assistant.example/callback',
    'file:///etc/passwd',
    'not an address',
  ]) {
    const { status } = await register({ client_name: 'x', redirect_uris: [uri] });
    expect([uri, status]).toEqual([uri, 400]);
  }
  const { status, body } = await register({ client_name: 'x' });
  expect([status, body.error]).toEqual([400, 'invalid_request']);
  expect(await service.deps.database.rows`select from oauth_clients where name = 'x'`).toEqual([]);
});

test('an app on the machine registers a loopback address', async ({ register }) => {
  const redirect_uris = ['http://127.0.0.1/callback'];
  const { status, body } = await register({ client_name: 'App', redirect_uris });
  expect([status, body.application_type]).toEqual([201, 'native']);
});

test('nothing else of the library is served', async ({ ada }) => {
  for (const path of [
    'oauth2/consent',
    'oauth2/continue',
    'oauth2/introspect',
    'oauth2/userinfo',
    'oauth2/create-client',
    'oauth2/get-clients',
    'oauth2/get-consents',
    'oauth2/end-session',
    'admin/oauth2/create-client',
    'admin/oauth2/resources',
    '.well-known/openid-configuration',
  ]) {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? {} : undefined;
      const { status } = await ada.session.send(method, `/auth/${path}`, body);
      expect([method, path, status]).toEqual([method, path, 404]);
    }
  }
});

test('the token endpoint takes forms of known grants only, and answers in the form of the standard', async ({
  service,
}) => {
  const send = async (body: string, type = 'application/x-www-form-urlencoded') => {
    const response = await fetch(`${service.url}/auth/oauth2/token`, {
      method: 'POST',
      headers: { 'Content-Type': type, ...fromElsewhere() },
      body,
    });
    const { error } = (await response.json()) as { error: string };
    return [response.status, error, response.headers.get('cache-control')];
  };
  const refused = (status: number, error: string) => [status, error, 'no-store'];
  expect(await send('{}', 'application/json')).toEqual(refused(415, 'invalid_request'));
  expect(await send('grant_type=authorization_code&grant_type=refresh_token')).toEqual(refused(400, 'invalid_request'));
  expect(await send('grant_type=client_credentials&client_id=x&client_secret=y')).toEqual(
    refused(400, 'unsupported_grant_type'),
  );
  expect(await send('grant_type=refresh_token&client_id=x&refresh_token=ras_rt_y')).toEqual(
    refused(400, 'invalid_grant'),
  );
  expect(await send('')).toEqual(refused(400, 'invalid_request'));
  expect(await send(`code=${'x'.repeat(20_000)}`)).toEqual(refused(413, 'invalid_request'));
});
