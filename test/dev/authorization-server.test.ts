import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuthorizationServer } from '#dev/authorization-server/options.ts';
import { startAuthorizationServer } from '#dev/authorization-server/server.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let server: AuthorizationServer;

beforeAll(async () => {
  server = await startAuthorizationServer({
    port: 0,
    clients: [
      {
        client_id: 'device',
        token_endpoint_auth_method: 'none',
        grant_types: [DEVICE_GRANT, 'refresh_token'],
        redirect_uris: [],
        response_types: [],
      },
    ],
  });
});
afterAll(() => server.stop());

async function post(path: string, form: Record<string, string>) {
  const response = await fetch(`${server.issuer}${path}`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'device', ...form }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

async function startDevice() {
  return (await post('/device/auth', { scope: 'openid offline_access tools' })).body;
}
function poll(deviceCode: string) {
  return post('/token', { grant_type: DEVICE_GRANT, device_code: deviceCode });
}
function refresh(token: string) {
  return post('/token', { grant_type: 'refresh_token', refresh_token: token });
}

test('it says what it can do', async () => {
  const metadata = await fetch(`${server.issuer}/.well-known/openid-configuration`);
  expect(await metadata.json()).toMatchObject({
    issuer: server.issuer,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    device_authorization_endpoint: `${server.issuer}/device/auth`,
    revocation_endpoint: `${server.issuer}/token/revocation`,
    registration_endpoint: `${server.issuer}/reg`,
  });
});

test('the device flow waits for the person, then gives tokens that rotate and can be revoked', async () => {
  const { device_code: deviceCode, user_code: userCode } = await startDevice();
  expect((await poll(deviceCode)).body.error).toBe('authorization_pending');
  await server.control.answerDevice(userCode, 'approve');
  const first = (await poll(deviceCode)).body;
  expect(await server.accessToken(first.access_token)).toMatchObject({
    scope: expect.stringContaining('tools'),
  });

  const second = (await refresh(first.refresh_token)).body;
  expect(second.refresh_token).not.toBe(first.refresh_token);
  await post('/token/revocation', { token: second.access_token });
  expect(await server.accessToken(second.access_token)).toBeUndefined();
  // A refresh token that was used already ends the whole grant.
  expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
  expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant');
});

test('the person may say no to a device', async () => {
  const { device_code: deviceCode, user_code: userCode } = await startDevice();
  await server.control.answerDevice(userCode, 'deny');
  expect((await poll(deviceCode)).body.error).toBe('access_denied');
  await expect(server.control.answerDevice('AAAA-AAAA', 'deny')).rejects.toThrow();
});
