import { z } from 'zod';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { ModelProvider } from '../providers/providers.ts';
import { SignInFailure } from '../sign-in/failure.ts';
import { mayBeSentTo, signInOf, type FindServer } from './server.ts';
import { postAsClient, TokenRequestError } from './token-request.ts';

/** Response that begins a device-code sign-in (RFC 8628, section 3.2). */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | null;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

const MAX_SECONDS = 15 * 60;
const DEFAULT_INTERVAL_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 60;

const answer = z.object({
  device_code: z.string().min(1).max(4_096),
  user_code: z.string().regex(/^[\x21-\x7e]([\x20-\x7e]{0,62}[\x21-\x7e])?$/),
  verification_uri: z.string().max(2_000).optional(),
  /** Google's name for `verification_uri`. */
  verification_url: z.string().max(2_000).optional(),
  verification_uri_complete: z.string().max(2_000).nullish().catch(undefined),
  expires_in: z.unknown().optional(),
  interval: z.unknown().optional(),
});

/** Asks the provider for a device code and the code that a person types in. @throws {SignInFailure} */
export async function requestDeviceCode(
  deps: { readonly outbound: OutboundClient; readonly findModelServer: FindServer },
  provider: ModelProvider,
  clientId: string,
): Promise<DeviceAuthorization> {
  const auth = signInOf(provider);
  const { deviceAuthorizationEndpoint: url } = await deps.findModelServer(provider);
  if (url === undefined) throw new SignInFailure('provider_unavailable');
  const { status, body } = await asked(() =>
    postAsClient(deps, provider, {
      url,
      clientId,
      parameters: {
        ...(auth.scopes.length === 0 ? {} : { scope: auth.scopes.join(auth.scopeSeparator) }),
        ...(auth.resource === undefined ? {} : { resource: auth.resource }),
        ...(auth.kind === 'device_code' ? auth.extraDeviceParameters : {}),
      },
    }),
  );
  const parsed = answer.safeParse(body);
  if (status !== 200 || !parsed.success) {
    throw new SignInFailure(status < 500 ? 'provider_refused' : 'provider_unavailable');
  }
  const said = parsed.data;
  const verificationUri = said.verification_uri ?? said.verification_url;
  if (verificationUri === undefined || !mayBeSentTo(deps.outbound, verificationUri)) {
    throw new SignInFailure('provider_refused');
  }
  const complete = said.verification_uri_complete ?? undefined;
  return {
    deviceCode: said.device_code,
    userCode: said.user_code,
    verificationUri,
    verificationUriComplete:
      complete !== undefined && mayBeSentTo(deps.outbound, complete) ? complete : null,
    expiresInSeconds: Math.min(saneSeconds(said.expires_in, MAX_SECONDS), MAX_SECONDS),
    intervalSeconds: interval(said.interval),
  };
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TokenRequestError) throw new SignInFailure('provider_unavailable');
    throw error;
  }
}

function saneSeconds(value: unknown, otherwise: number): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 1) return otherwise;
  return Math.ceil(seconds);
}

/** Returns the interval to poll at: five seconds where the response names no sane number. */
function interval(value: unknown): number {
  const seconds = saneSeconds(value, DEFAULT_INTERVAL_SECONDS);
  return seconds > MAX_INTERVAL_SECONDS ? DEFAULT_INTERVAL_SECONDS : seconds;
}
