import { hostname } from 'node:os';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError, fieldsOf } from '../failure.ts';
import type { Profile } from '../profiles/store.ts';
import { jsonOf, request } from '../request.ts';

export const CLIENT_ID = 'ras-cli';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Seconds between two polls unless the service names another number, and the seconds that each "slow down" adds (RFC
 * 8628, section 3.5).
 */
const INTERVAL = 5;
const SLOWER_BY = 5;

/**
 * Signs in by a code that the user confirms in a browser (RFC 8628).
 * @throws {CliError} when the user refuses or the code expires
 */
export async function signInByDevice(
  context: Context,
  { baseUrl, browser }: { readonly baseUrl: string; readonly browser: boolean },
): Promise<Profile> {
  const code = await askForCode(context, baseUrl);
  context.say(`Open ${code.address} and check that it shows the code ${code.userCode}.`);
  if (browser && !(await context.openBrowser(code.address))) {
    context.say('No browser could be started here; any other device will do.');
  }
  context.say('Waiting for the sign-in …');
  const token = await pollForToken(context, baseUrl, code);
  return { ...token, baseUrl, dashboardUrl: new URL(code.address).origin };
}

interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly address: string;
  readonly intervalSeconds: number;
  readonly expiresAt: number;
}

async function askForCode(context: Context, baseUrl: string): Promise<DeviceCode> {
  const body = { client_id: CLIENT_ID, host_name: hostname() };
  const response = await request(context, `${baseUrl}/v1/auth/device/code`, body);
  if (response.status === 404) {
    throw new CliError(`${baseUrl} has no sign-in for terminals.`, {
      hint: 'Make an API key in the dashboard, and give it to ras login --with-token.',
    });
  }
  const fields = fieldsOf(await jsonOf(response));
  const { device_code: deviceCode, user_code: userCode, expires_in: expiresIn } = fields;
  const address = fields['verification_uri_complete'] ?? fields['verification_uri'];
  if (
    typeof deviceCode !== 'string' ||
    typeof userCode !== 'string' ||
    typeof expiresIn !== 'number' ||
    !isWebAddress(address)
  ) {
    const why = describe(fields) ?? `it responded with ${response.status}.`;
    throw new CliError(`${baseUrl} did not begin a sign-in: ${why}`);
  }
  const interval = fields['interval'];
  return {
    deviceCode,
    userCode,
    address,
    intervalSeconds: typeof interval === 'number' ? interval : INTERVAL,
    expiresAt: context.now() + expiresIn * 1_000,
  };
}

async function pollForToken(
  context: Context,
  baseUrl: string,
  { deviceCode, intervalSeconds, expiresAt }: DeviceCode,
): Promise<Pick<Profile, 'apiKey' | 'projectId' | 'expiresAt'>> {
  const body = { grant_type: GRANT_TYPE, device_code: deviceCode, client_id: CLIENT_ID };
  const interrupted = context.interrupted();
  let seconds = intervalSeconds;
  for (;;) {
    await context.pause(seconds * 1_000, interrupted);
    if (context.now() >= expiresAt) throw notConfirmed('The code has expired.');
    const response = await request(context, `${baseUrl}/v1/auth/device/token`, body).catch((error: unknown) => {
      interrupted.throwIfAborted();
      return error;
    });
    // Poll less often without a connection, and after errors of a proxy or the service.
    if (!(response instanceof Response) || response.status >= 500) {
      seconds *= 2;
      continue;
    }
    const fields = fieldsOf(await jsonOf(response));
    if (response.ok) return tokenOf(fields, baseUrl, context.now());
    switch (fields['error']) {
      case 'authorization_pending':
        break;
      case 'slow_down':
        seconds += SLOWER_BY;
        break;
      case 'access_denied':
        throw notConfirmed('The sign-in was refused in the browser.');
      case 'expired_token':
        throw notConfirmed('The code has expired.');
      default:
        throw notConfirmed(describe(fields) ?? `The service responded with ${response.status}.`);
    }
  }
}

function tokenOf(fields: Readonly<Record<string, unknown>>, baseUrl: string, now: number) {
  const { access_token: apiKey, project_id: projectId, expires_in: expiresIn } = fields;
  if (typeof apiKey !== 'string' || apiKey === '') {
    throw new CliError(`${baseUrl} confirmed the sign-in and sent no key.`);
  }
  return {
    apiKey,
    projectId: typeof projectId === 'string' ? projectId : undefined,
    expiresAt: typeof expiresIn === 'number' ? new Date(now + expiresIn * 1_000).toISOString() : undefined,
  };
}

function describe({ error_description: description, error }: Readonly<Record<string, unknown>>) {
  return [description, error].find((each) => typeof each === 'string');
}

function notConfirmed(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.notSignedIn, hint: 'Try again: ras login' });
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}
