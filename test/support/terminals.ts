import { randomBytes } from 'node:crypto';
import { ApiClient, type Answer } from './client.ts';
import { fromElsewhere } from './people.ts';

/** A terminal that has begun a device sign-in (RFC 8628). */
export interface Terminal {
  readonly host: string;
  readonly address: string;
  readonly userCode: string;
  readonly deviceCode: string;
  /** The response with the codes. */
  readonly begun: Answer['body'];
  /** Asks for the key once. */
  poll(): Promise<Answer>;
}

/** Begins the sign-in of a terminal, with an address and a host name that no other terminal has. */
export async function openTerminal({ url }: { readonly url: string }): Promise<Terminal> {
  const host = `laptop-${randomBytes(4).toString('hex')}`;
  const from = fromElsewhere();
  const client = new ApiClient(url, from);
  const body = { client_id: 'ras-cli', host_name: host };
  const { status, body: begun } = await client.post('/v1/auth/device/code', body);
  if (status !== 200) throw new Error(JSON.stringify(begun));
  return {
    host,
    address: from['X-Forwarded-For']!,
    userCode: begun.user_code,
    deviceCode: begun.device_code,
    begun,
    poll: () => redeem(client, begun.device_code),
  };
}

export function redeem(client: ApiClient, deviceCode: string): Promise<Answer> {
  return client.post('/v1/auth/device/token', {
    client_id: 'ras-cli',
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: deviceCode,
  });
}
