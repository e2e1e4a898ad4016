import {
  generateAuthenticationOptions,
  verifyAuthenticationResponse,
} from '@simplewebauthn/server';
import { APIError } from 'better-auth/api';
import { expireCookie, type setSessionCookie } from 'better-auth/cookies';
import { generateRandomString } from 'better-auth/crypto';
import { z } from 'zod';
import type { AuthSettings } from '../auth-options.ts';
import { findPasskey, notePasskeyUse } from './passkey-store.ts';

type Context = Parameters<typeof setSessionCookie>[0];

const CHALLENGE_SECONDS = 5 * 60;
const COOKIE = 'passkey';

/** The signature of a passkey, as the browser writes it in JSON. */
export const passkeyAssertion = z.object({
  id: z.string().max(1_400),
  rawId: z.string(),
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).default({}),
  response: z.object({
    clientDataJSON: z.string(),
    authenticatorData: z.string(),
    signature: z.string(),
  }),
});

/** Checks passkeys (WebAuthn Level 3), which are bound to the host of the user interface. */
export function createPasskeyCheck({ database, uiOrigin, log }: AuthSettings) {
  const rpID = new URL(uiOrigin).hostname;

  /** Keeps a challenge for the browser that the response goes to. */
  async function keepChallenge(ctx: Context, challenge: string): Promise<void> {
    const { name, attributes } = ctx.context.createAuthCookie(COOKIE, {
      maxAge: CHALLENGE_SECONDS,
    });
    const identifier = `passkey-${generateRandomString(32)}`;
    await ctx.context.internalAdapter.createVerificationValue({
      identifier,
      value: challenge,
      expiresAt: new Date(Date.now() + CHALLENGE_SECONDS * 1_000),
    });
    await ctx.setSignedCookie(name, identifier, ctx.context.secret, attributes);
  }

  /** Uses up the challenge of this browser. @throws {APIError} `invalid_passkey` where there is none */
  async function takeChallenge(ctx: Context): Promise<string> {
    const cookie = ctx.context.createAuthCookie(COOKIE);
    const identifier = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
    expireCookie(ctx, cookie);
    const { internalAdapter } = ctx.context;
    const kept = identifier ? await internalAdapter.consumeVerificationValue(identifier) : null;
    if (!kept) throw invalidPasskey();
    return kept.value;
  }

  /** Begins a sign-in or a proof: any passkey of this host that the person chooses. */
  async function begin(ctx: Context) {
    const options = await generateAuthenticationOptions({ rpID, userVerification: 'required' });
    await keepChallenge(ctx, options.challenge);
    return options;
  }

  /**
   * Returns the id of the person whose passkey has signed the challenge, after a PIN or a finger.
   * @throws {APIError} `invalid_passkey`
   */
  async function verify(
    ctx: Context,
    response: z.output<typeof passkeyAssertion>,
  ): Promise<string> {
    const expectedChallenge = await takeChallenge(ctx);
    const passkey = await findPasskey(database, response.id);
    if (passkey === undefined) throw invalidPasskey();
    const { id, publicKey, counter, userId } = passkey;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge,
      expectedOrigin: uiOrigin,
      expectedRPID: rpID,
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
      requireUserVerification: true,
    }).catch((err: unknown) => {
      log?.warn({ err, userId }, 'auth: a passkey was refused');
      throw invalidPasskey();
    });
    if (!verified) throw invalidPasskey();
    const { newCounter } = authenticationInfo;
    if (!(await notePasskeyUse(database, { id, counter: newCounter }))) throw invalidPasskey();
    return userId;
  }

  return { rpID, begin, verify, keepChallenge, takeChallenge };
}

export function invalidPasskey(): APIError {
  return new APIError('BAD_REQUEST', {
    code: 'invalid_passkey',
    message: 'The passkey is unknown here, or its response is too old. Try again.',
  });
}
