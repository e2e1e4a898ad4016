import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuthorizationServer } from '#dev/fakes/authorization-server/options.ts';
import { startAuthorizationServer } from '#dev/fakes/authorization-server/server.ts';

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

function poll(deviceCode: string) {
  return post('/token', { grant_type: DEVICE_GRANT, device_code: deviceCode });
}
function refresh(token: string) {
  return post('/token', { grant_type: 'refresh_token', refresh_token: token });
}

test('the device flow waits for the person, then gives tokens that rotate and can be revoked', async () => {
  const { body: started } = await post('/device/auth', { scope: 'openid offline_access tools' });
  const { device_code: deviceCode, user_code: userCode } = started;
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
  // A second use of a refresh token ends the whole grant.
  expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
  expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant');
});
