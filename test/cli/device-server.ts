import { startReceiver } from '#test/lib/outbound/receiver.ts';

export type DeviceAnswer =
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'invalid_grant'
  | 'unavailable'
  | 'token';

export interface DeviceServerOptions {
  readonly intervalSeconds?: number;
  readonly expiresInSeconds?: number;
  /** The answers in order; the last one repeats. */
  readonly answers: readonly DeviceAnswer[];
  /** Address at which the user confirms the code. Default the server itself. */
  readonly address?: string;
  /** True to refuse a sign-in, as the service does when too many are open. */
  readonly isBusy?: boolean;
}

export const KEY = `ras_Dev1ce00_${'k'.repeat(43)}`;

/**
 * Stands in for the sign-in of devices (RFC 8628) and for the check of a key. It refuses clients, grants, codes and
 * content types that the document does not permit.
 */
export async function startDeviceServer({
  intervalSeconds = 5,
  expiresInSeconds = 600,
  answers,
  address,
  isBusy = false,
}: DeviceServerOptions) {
  let asked = 0;
  const server = await startReceiver((request, response) => {
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const fail = (error: string) => send(400, { error, error_description: `It is ${error}.` });
    const route = `${request.method} ${request.url}`;
    const body = server.received.at(-1)?.body ?? '';
    if (route === 'POST /v1/auth/device/code' || route === 'POST /v1/auth/device/token') {
      if (request.headers['content-type'] !== 'application/json') return send(415, {});
      if (request.headers.authorization !== undefined) return fail('invalid_request');
      if (JSON.parse(body).client_id !== 'ras-cli') return fail('invalid_client');
    } else {
      const isKey = request.headers.authorization === `Bearer ${KEY}`;
      if (!isKey) return send(401, { error: { code: 'invalid_api_key', message: 'No.' } });
      if (route === 'GET /v1/project') return send(200, { data: { id: 'prj_1', name: 'Website' } });
      return request.method === 'GET'
        ? send(200, { data: [] })
        : send(403, { error: { code: 'insufficient_scope', message: 'No.' } });
    }
    if (route === 'POST /v1/auth/device/code') {
      if (isBusy) return send(429, { error: 'slow_down', error_description: 'Too many sign-ins.' });
      const page = address ?? `${server.origin}/device`;
      return send(200, {
        device_code: 'the-device-code',
        user_code: 'ABCD-EFGH',
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=ABCD-EFGH`,
        expires_in: expiresInSeconds,
        interval: intervalSeconds,
      });
    }
    const { grant_type: grant, device_code: code } = JSON.parse(body);
    if (grant !== 'urn:ietf:params:oauth:grant-type:device_code') return fail('unsupported_grant_type');
    if (code !== 'the-device-code') return fail('invalid_grant');
    const answer = answers[Math.min(asked, answers.length - 1)] ?? 'token';
    asked += 1;
    if (answer === 'unavailable') return send(503, {});
    if (answer !== 'token') return fail(answer);
    return send(200, {
      access_token: KEY,
      token_type: 'Bearer',
      expires_in: 90 * 86_400,
      scope: 'models:read routines:read runs:read connections:read',
      project_id: 'prj_1',
    });
  });
  return {
    origin: server.origin,
    bodies: () =>
      server.received.filter(({ path }) => path.startsWith('/v1/auth/device/')).map(({ body }) => JSON.parse(body)),
  };
}
