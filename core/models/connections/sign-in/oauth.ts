import { randomBytes } from 'node:crypto';
import type { Actor } from '#core/foundation/audit/index.ts';
import { isFromIssuer, requestTokens, TokenError } from '#core/clients/oauth/index.ts';
import { authorizationRequest } from '#core/integrations/connections/index.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import { assertMayBeginSignIn } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { ModelConnection } from '../connection.ts';
import type { AccountsCore } from '../core.ts';
import { readModelConnection } from '../store/queries.ts';
import { endpointOf, signInOf, tokenParametersOf, type ProviderServer } from '../oauth/server.ts';
import { endAttempt, findMadeAccount, hashState, insertAttempt, openSecrets, takeByState } from './attempt-queries.ts';
import type { SignInAttempt, AttemptOwner, Granted } from './attempt.ts';
import { SignInFailure } from './failure.ts';
import { dropGrant, finishSignIn, readGrant } from './grant.ts';
import { checkMayConnect } from './keep.ts';
import { clientIdOf, openProvider } from './open-provider.ts';

const SLOT = 'provider-b';
const TEN_MINUTES_SECONDS = 600;

export interface StartedModelSignIn {
  readonly authorizationUrl: string;
  /** The host of the authorization page. */
  readonly host: string;
  readonly redirectUri: string;
  /** `paste`: the person copies the address at which the sign-in ends. */
  readonly redirect: 'callback' | 'paste';
  readonly expiresAt: Date;
}

/**
 * Begins an OAuth sign-in with PKCE (RFC 7636, S256 only), a nonce, and a state that works once, for this session.
 * Replaces the person's open sign-in.
 * @throws {AppError} the errors of `startDeviceSignIn`
 */
export async function startOAuthSignIn(
  deps: AccountsCore,
  owner: AttemptOwner,
  input: { readonly connectionId: string | null; readonly callbackUri: string },
): Promise<StartedModelSignIn> {
  const { provider } = await openProvider(deps, SLOT);
  const { connectionId } = input;
  await checkMayConnect(deps.database, owner, provider, connectionId);
  await assertMayBeginSignIn(deps.database, owner.userId, SLOT);
  const server = await deps.findModelServer(provider);
  const auth = signInOf(provider);
  const redirect = auth.kind === 'oauth' ? auth.redirect : 'callback';
  const redirectUri = (auth.kind === 'oauth' ? auth.redirectUri : undefined) ?? input.callbackUri;
  const state = randomBytes(32).toString('base64url');
  const nonce = randomBytes(32).toString('base64url');
  const { authorizationUrl, codeVerifier: verifier } = await requestOf(deps, provider, server, {
    redirectUri,
    state,
    nonce,
  });
  const attempt = await insertAttempt(deps.database, deps.secrets, {
    ...owner,
    id: newId('attempt'),
    provider: SLOT,
    fileHash: provider.hash,
    connectionId,
    stateHash: hashState(state),
    secrets: { kind: 'oauth', verifier, nonce, redirectUri },
    intervalSeconds: null,
    expiresInSeconds: TEN_MINUTES_SECONDS,
  });
  const { host } = new URL(authorizationUrl);
  return { authorizationUrl, host, redirectUri, redirect, expiresAt: attempt.expiresAt };
}

/**
 * Ends an OAuth sign-in: takes the state, redeems the code, tries the tokens and stores the account. An error after the
 * state was taken ends the attempt. A repeated return leads to the same account and redeems nothing.
 * @throws {AppError} `attempt_expired`, `provider_disabled`, `runtime_unavailable`, and those of `SignInFailure`
 */
export async function completeOAuthSignIn(
  deps: AccountsCore,
  person: Pick<AttemptOwner, 'userId' | 'sessionId'>,
  returned: ReturnedParameters,
  by: Actor,
): Promise<ModelConnection> {
  const open = await openProvider(deps, SLOT);
  const { userId, sessionId } = person;
  const presented = { state: returned.state, userId, sessionId, provider: SLOT } as const;
  const taken = await takeByState(deps.database, presented);
  const made = taken === undefined ? await findMadeAccount(deps.database, presented) : undefined;
  if (made !== undefined) return readModelConnection(deps.database, made.projectId, made.connectionId);
  if (taken === undefined || !taken.live || !taken.member) {
    throw new AppError('attempt_expired', 'This sign-in has ended or was not started here; start it again.');
  }
  let granted: Granted | undefined;
  try {
    granted = await redeem(deps, open.provider, taken, returned);
    return await finishSignIn(deps, open, taken, granted, by);
  } catch (error) {
    const reason = error instanceof SignInFailure ? error.reason : 'not_checked';
    const state = reason === 'denied' ? 'denied' : 'failed';
    await endAttempt(deps.database, taken, { state, error: reason });
    if (granted !== undefined) void dropGrant(deps, open.provider, granted);
    throw error;
  }
}

async function requestOf(
  { outbound }: AccountsCore,
  provider: ModelProvider,
  server: ProviderServer,
  input: { redirectUri: string; state: string; nonce: string },
) {
  const auth = signInOf(provider);
  const { authorizationEndpoint } = server;
  if (auth.kind !== 'oauth' || authorizationEndpoint === undefined) {
    throw new SignInFailure('provider_unavailable');
  }
  const instance = auth.instanceIdParameter;
  const { authorizationUrl, codeVerifier } = await authorizationRequest(
    {
      server: {
        issuer: server.issuer,
        authorizationEndpoint,
        tokenEndpoint: server.tokenEndpoint,
        tokenEndpointAuthMethods: [auth.tokenEndpointAuth],
        sendsIssuer: server.sendsIssuer,
      },
      client: { id: clientIdOf(provider), given: true },
      discovered: false,
      resource: auth.resource ?? null,
      scope: auth.scopes.length === 0 ? undefined : auth.scopes.join(auth.scopeSeparator),
      parameters: {
        nonce: input.nonce,
        ...(instance === undefined ? {} : { [instance]: newId('attempt') }),
        ...auth.authorizationParameters,
      },
    },
    input.redirectUri,
    input.state,
  );
  // Send a person only to addresses that this service may call itself.
  if (outbound.urlFault(authorizationUrl) !== undefined) throw new SignInFailure('provider_unavailable');
  return { authorizationUrl: authorizationUrl.href, codeVerifier };
}

/** @throws {SignInFailure} */
async function redeem(
  deps: AccountsCore,
  provider: ModelProvider,
  attempt: SignInAttempt,
  returned: ReturnedParameters,
): Promise<Granted> {
  if (attempt.fileHash !== provider.hash) throw new SignInFailure('provider_changed');
  const secrets = openSecrets(deps.secrets, attempt);
  if (secrets.kind !== 'oauth') throw new SignInFailure('superseded');
  const server = await deps.findModelServer(provider);
  // Refuse a response of another server: its code must not be redeemed at this server (RFC 9207).
  if (!isFromIssuer(server, returned.iss)) throw new SignInFailure('wrong_issuer');
  if (returned.error === 'access_denied') throw new SignInFailure('denied');
  if (returned.error !== undefined || returned.code === undefined) {
    throw new SignInFailure('provider_refused');
  }
  const auth = signInOf(provider);
  const issued = auth.kind === 'oauth' && auth.issuedClientId ? returned.clientId : undefined;
  const clientId = issued ?? clientIdOf(provider);
  try {
    const tokens = await requestTokens(deps, endpointOf(provider, server.tokenEndpoint, clientId), {
      ...tokenParametersOf(provider),
      grant_type: 'authorization_code',
      code: returned.code,
      code_verifier: secrets.verifier,
      redirect_uri: secrets.redirectUri,
    });
    return await readGrant(deps, provider, server, { tokens, clientId, nonce: secrets.nonce });
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    deps.log.warn({ attemptId: attempt.id, detail: error.answer }, 'a code was not redeemed');
    const isRefused = error.kind === 'refused' || error.kind === 'answered';
    throw new SignInFailure(isRefused ? 'provider_refused' : 'provider_unavailable');
  }
}

/** The parameters with which a provider sent a person back (RFC 6749, section 4.1.2; RFC 9207). */
export interface ReturnedParameters {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly iss: string | undefined;
  /** Client that the provider has issued for the person's key; undefined if the provider issues none. */
  readonly clientId: string | undefined;
}

const MAX = { state: 200, code: 4_096, error: 200, iss: 2_048, client_id: 500 } as const;

/**
 * Reads the parameters from the address at which a sign-in ended, which the person has copied.
 * @throws {AppError} `invalid_request`
 */
export function readReturnedAddress(address: string): ReturnedParameters {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new AppError('invalid_request', 'address: copy the whole address, with https://');
  }
  const { searchParams } = new URL(address);
  const read = (name: keyof typeof MAX) => {
    const value = searchParams.get(name);
    if (value === null || value === '') return undefined;
    if (value.length > MAX[name]) {
      throw new AppError('invalid_request', `address: ${name} is too long`);
    }
    return value;
  };
  const state = read('state');
  if (state === undefined) {
    throw new AppError('invalid_request', 'address: has no state; copy the whole address');
  }
  return {
    state,
    code: read('code'),
    error: read('error'),
    iss: read('iss'),
    clientId: read('client_id'),
  };
}
