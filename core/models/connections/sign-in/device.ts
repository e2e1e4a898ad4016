import { z } from 'zod';
import type { Actor } from '#core/foundation/audit/index.ts';
import { postAsClient, requestTokens, TokenError } from '#core/clients/oauth/index.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import { assertMayBeginSignIn } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { AccountsCore } from '../core.ts';
import { endpointOf, signInOf, tokenParametersOf } from '../oauth/server.ts';
import {
  endAttempt,
  endTurn,
  insertAttempt,
  keepSecrets,
  openSecrets,
  readAttempt,
  takeTurn,
} from './attempt-queries.ts';
import type { SignInAttempt, AttemptOwner, Granted } from './attempt.ts';
import { SignInFailure } from './failure.ts';
import { dropGrant, finishSignIn, readGrant } from './grant.ts';
import { checkMayConnect } from './keep.ts';
import { clientIdOf, openProvider, type OpenProvider } from './open-provider.ts';

const SLOT = 'provider-a';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** A device-code sign-in, as its owner sees it. The codes are null once the sign-in has ended. */
export interface DeviceAttempt extends SignInAttempt {
  readonly userCode: string | null;
  readonly verificationUri: string | null;
  readonly verificationUriComplete: string | null;
}

/**
 * Begins a device-code sign-in (RFC 8628) in place of the person's open sign-in.
 * @throws {AppError} `provider_disabled`, `runtime_unavailable`, `rate_limited`, `limit_reached`, `provider_error`, and
 * for a repeated sign-in the errors of its connection
 */
export async function startDeviceSignIn(
  deps: AccountsCore,
  owner: AttemptOwner,
  connectionId: string | null,
): Promise<DeviceAttempt> {
  const { provider } = await openProvider(deps, SLOT);
  await checkMayConnect(deps.database, owner, provider, connectionId);
  await assertMayBeginSignIn(deps.database, owner.userId, SLOT);
  const { expiresInSeconds, intervalSeconds, ...codes } = await requestDeviceCode(deps, provider, clientIdOf(provider));
  const attempt = await insertAttempt(deps.database, deps.secrets, {
    ...owner,
    id: newId('attempt'),
    provider: SLOT,
    fileHash: provider.hash,
    connectionId,
    stateHash: null,
    secrets: { kind: 'device', ...codes },
    intervalSeconds,
    expiresInSeconds,
  });
  return shown(deps, attempt);
}

/**
 * Reads an attempt, and asks the provider about it when that is due. The provider's response changes the state of the
 * attempt and never fails the poll.
 * @throws {AppError} `attempt_not_found`, `provider_disabled`, `runtime_unavailable`
 */
export async function pollDeviceSignIn(
  deps: AccountsCore,
  owner: Pick<AttemptOwner, 'projectId' | 'userId'>,
  id: string,
  by: Actor,
): Promise<DeviceAttempt> {
  const read = () => readAttempt(deps.database, owner, SLOT, id);
  const attempt = await read();
  if (attempt.state !== 'pending') return shown(deps, attempt);
  const open = await openProvider(deps, SLOT);
  const turn = await takeTurn(deps.database, attempt);
  if (turn === undefined) return shown(deps, await read());
  await settleTurn(deps, open, turn, by);
  return shown(deps, await read());
}

/** Cancels an attempt; an ended attempt stays as it is. @throws {AppError} `attempt_not_found` */
export async function cancelDeviceSignIn(
  deps: Pick<AccountsCore, 'database' | 'secrets'>,
  owner: Pick<AttemptOwner, 'projectId' | 'userId'>,
  id: string,
): Promise<DeviceAttempt> {
  const attempt = await readAttempt(deps.database, owner, SLOT, id);
  await endAttempt(deps.database, attempt, { state: 'cancelled' });
  return shown(deps, await readAttempt(deps.database, owner, SLOT, id));
}

async function settleTurn(deps: AccountsCore, open: OpenProvider, turn: SignInAttempt, by: Actor): Promise<void> {
  let granted: Granted | undefined;
  try {
    if (turn.fileHash !== open.provider.hash) throw new SignInFailure('provider_changed');
    granted = await grantOf(deps, open, turn);
    if (granted === undefined) return;
    await finishSignIn(deps, open, turn, granted, by);
  } catch (error) {
    // End only the turn: the tokens are stored with the attempt, and the next poll continues from them.
    const mayPass =
      error instanceof AppError &&
      (error.code === 'runtime_unavailable' || (error instanceof SignInFailure && MAY_PASS.has(error.reason)));
    if (mayPass) return endTurn(deps.database, turn, { pause: true });
    if (!(error instanceof AppError)) {
      await endTurn(deps.database, turn, { pause: true });
      throw error;
    }
    const reason = error instanceof SignInFailure ? error.reason : 'superseded';
    await endAttempt(deps.database, turn, { state: 'failed', error: reason });
    // If this turn took too long, the next turn may have stored these tokens already.
    const { state } = await readAttempt(deps.database, turn, SLOT, turn.id);
    if (granted !== undefined && state !== 'succeeded') void dropGrant(deps, open.provider, granted);
  }
}

const MAY_PASS: ReadonlySet<string> = new Set(['not_checked', 'provider_unavailable']);

/** Asks the provider once. @returns undefined when the provider gives no tokens; the attempt then records why */
async function grantOf(
  deps: AccountsCore,
  { provider }: OpenProvider,
  turn: SignInAttempt,
): Promise<Granted | undefined> {
  const secrets = openSecrets(deps.secrets, turn);
  if (secrets.kind === 'granted') return secrets;
  if (secrets.kind !== 'device') throw new SignInFailure('superseded');
  const clientId = clientIdOf(provider);
  const server = await deps.findModelServer(provider);
  let tokens;
  try {
    tokens = await requestTokens(deps, endpointOf(provider, server.tokenEndpoint, clientId), {
      ...tokenParametersOf(provider),
      grant_type: GRANT_TYPE,
      device_code: secrets.deviceCode,
    });
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    await noTokens(deps, turn, error);
    return undefined;
  }
  const granted = await readGrant(deps, provider, server, { tokens, clientId, nonce: undefined });
  // Store the tokens before anything else can fail: the device code is used up now.
  if (await keepSecrets(deps.database, deps.secrets, turn, granted)) return granted;
  void dropGrant(deps, provider, granted);
  return undefined;
}

/** Records why the provider gave no tokens (RFC 8628, section 3.5). */
async function noTokens(
  { database, log }: AccountsCore,
  turn: SignInAttempt,
  { kind, error }: TokenError,
): Promise<void> {
  if (error === 'authorization_pending') return endTurn(database, turn);
  if (error === 'slow_down') return endTurn(database, turn, { slowDown: true });
  if (error === 'access_denied') return void (await endAttempt(database, turn, { state: 'denied' }));
  if (error === 'expired_token') return void (await endAttempt(database, turn, { state: 'expired' }));
  log.warn({ attemptId: turn.id, detail: error }, 'a device code was not redeemed');
  if (kind !== 'refused' && !FATAL.has(error)) return endTurn(database, turn, { pause: true });
  await endAttempt(database, turn, { state: 'failed', error: 'provider_refused' });
}

/** Errors that end the attempt, because every later poll would get them too. */
const FATAL: ReadonlySet<string> = new Set(['invalid_request', 'invalid_scope', 'unsupported_grant_type']);

function shown({ secrets }: Pick<AccountsCore, 'secrets'>, attempt: SignInAttempt): DeviceAttempt {
  const opened = attempt.state === 'pending' ? openSecrets(secrets, attempt) : undefined;
  if (opened?.kind !== 'device') {
    return { ...attempt, userCode: null, verificationUri: null, verificationUriComplete: null };
  }
  const { userCode, verificationUri, verificationUriComplete } = opened;
  return { ...attempt, userCode, verificationUri, verificationUriComplete };
}

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
async function requestDeviceCode(
  deps: Pick<AccountsCore, 'findModelServer' | 'outbound'>,
  provider: ModelProvider,
  clientId: string,
): Promise<DeviceAuthorization> {
  const auth = signInOf(provider);
  const { deviceAuthorizationEndpoint: url } = await deps.findModelServer(provider);
  if (url === undefined) throw new SignInFailure('provider_unavailable');
  const { status, body } = await postAsClient(deps, endpointOf(provider, url, clientId), {
    ...(auth.scopes.length === 0 ? {} : { scope: auth.scopes.join(auth.scopeSeparator) }),
    ...(auth.resource === undefined ? {} : { resource: auth.resource }),
    ...(auth.kind === 'device_code' ? auth.extraDeviceParameters : {}),
  }).catch((error: unknown) => {
    throw error instanceof TokenError ? new SignInFailure('provider_unavailable') : error;
  });
  const parsed = answer.safeParse(body);
  if (status !== 200 || !parsed.success) {
    throw new SignInFailure(status < 500 ? 'provider_refused' : 'provider_unavailable');
  }
  const said = parsed.data;
  const verificationUri = said.verification_uri ?? said.verification_url;
  // Send a person only to addresses that this service may call itself.
  if (verificationUri === undefined || deps.outbound.urlFault(verificationUri) !== undefined) {
    throw new SignInFailure('provider_refused');
  }
  const complete = said.verification_uri_complete ?? null;
  const interval = saneSeconds(said.interval, DEFAULT_INTERVAL_SECONDS);
  return {
    deviceCode: said.device_code,
    userCode: said.user_code,
    verificationUri,
    verificationUriComplete: complete !== null && deps.outbound.urlFault(complete) === undefined ? complete : null,
    expiresInSeconds: Math.min(saneSeconds(said.expires_in, MAX_SECONDS), MAX_SECONDS),
    intervalSeconds: interval > MAX_INTERVAL_SECONDS ? DEFAULT_INTERVAL_SECONDS : interval,
  };
}

function saneSeconds(value: unknown, otherwise: number): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 1) return otherwise;
  return Math.ceil(seconds);
}
