import { generateAuthenticationOptions, verifyAuthenticationResponse } from '@simplewebauthn/server';
import { APIError } from 'better-auth/api';
import { expireCookie, type setSessionCookie } from 'better-auth/cookies';
import { generateRandomString } from 'better-auth/crypto';
import { z } from 'zod';
import type { Db } from '#lib/database/index.ts';
import type { AuthSettings } from '../auth-options.ts';

type Context = Parameters<typeof setSessionCookie>[0];

const CHALLENGE_SECONDS = 5 * 60;

const COOKIE = 'passkey';

/** The signature of a passkey, in the JSON that a browser writes. */
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

/** Checks passkeys (WebAuthn Level 3), which are bound to the host of the dashboard. */
export function createPasskeyCheck({ database, uiOrigin, log }: AuthSettings) {
  const rpID = new URL(uiOrigin).hostname;

  /** Stores a challenge for the browser that gets the response. */
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

  /**
   * Uses up the challenge of this browser.
   * @throws {APIError} `invalid_passkey` without a challenge
   */
  async function takeChallenge(ctx: Context): Promise<string> {
    const cookie = ctx.context.createAuthCookie(COOKIE);
    const identifier = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
    expireCookie(ctx, cookie);
    const { internalAdapter } = ctx.context;
    const kept = identifier ? await internalAdapter.consumeVerificationValue(identifier) : null;
    if (!kept) throw invalidPasskey();
    return kept.value;
  }

  /** Begins a sign-in or a proof. The person may use any of their passkeys for this host. */
  async function begin(ctx: Context) {
    const options = await generateAuthenticationOptions({ rpID, userVerification: 'required' });
    await keepChallenge(ctx, options.challenge);
    return options;
  }

  /**
   * Returns the id of the person whose passkey has signed the challenge, after a PIN or a fingerprint.
   * @throws {APIError} `invalid_passkey`
   */
  async function verify(ctx: Context, response: z.output<typeof passkeyAssertion>): Promise<string> {
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

/** A key pair of a device or a password manager. The service has the public half. */
interface Passkey {
  /** The credential id, base64url. */
  readonly id: string;
  readonly userId: string;
  readonly publicKey: Buffer;
  /** Number of signatures that the device claims to have made; 0 for a device that does not count them. */
  readonly counter: number;
}

interface ListedPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export const MAX_PASSKEYS = 10;

export function listPasskeys(db: Db, userId: string): Promise<ListedPasskey[]> {
  return db.rows<ListedPasskey>`
    select id, name, created_at as "createdAt", last_used_at as "lastUsedAt" from passkeys
    where user_id = ${userId} order by created_at, id
  `;
}

function findPasskey(db: Db, id: string): Promise<Passkey | undefined> {
  return db.row<Passkey>`
    select id, user_id as "userId", public_key as "publicKey", counter from passkeys where id = ${id}
  `;
}

/** Stores a new passkey. @returns false if its id is known already, or the person has `MAX_PASSKEYS` */
export async function insertPasskey(
  tx: Db,
  { id, userId, name, publicKey, counter }: Passkey & { readonly name: string },
): Promise<boolean> {
  // Lock the person's row, so that passkeys added at the same time are counted in turn.
  await tx.row`select 1 from second_factors where user_id = ${userId} for update`;
  const inserted = await tx.run`
    insert into passkeys (id, user_id, name, public_key, counter)
    select ${id}, ${userId}, ${name}, ${publicKey}, ${counter}
    where (select count(*) from passkeys where user_id = ${userId}) < ${MAX_PASSKEYS}
    on conflict (id) do nothing
  `;
  return inserted === 1;
}

async function notePasskeyUse(db: Db, { id, counter }: Pick<Passkey, 'id' | 'counter'>) {
  const noted = await db.run`
    update passkeys set counter = ${counter}, last_used_at = now()
    where id = ${id} and (counter < ${counter} or counter = 0 and ${counter} = 0)
  `;
  return noted === 1;
}

export async function removePasskey(tx: Db, { id, userId }: Pick<Passkey, 'id' | 'userId'>): Promise<boolean> {
  return (await tx.run`delete from passkeys where id = ${id} and user_id = ${userId}`) === 1;
}
