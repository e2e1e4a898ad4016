import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { z } from 'zod';
import { transaction } from '#lib/database/index.ts';
import type { AuthSettings } from '../auth-options.ts';
import { actorOf, createFactorCheck, noFactor, recordFactorEvent } from './check.ts';
import {
  createPasskeyCheck,
  insertPasskey,
  invalidPasskey,
  listPasskeys,
  MAX_PASSKEYS,
  passkeyAssertion,
  removePasskey,
} from './passkey-check.ts';
import { findSecondFactor } from './store.ts';

/** A new passkey, in the JSON that a browser writes. */
export const newPasskey = passkeyAssertion.extend({
  response: z.object({ clientDataJSON: z.string(), attestationObject: z.string() }),
});

const use = [sensitiveSessionMiddleware];

/**
 * Lets a person with a second factor add passkeys and sign in with a passkey alone: a passkey combines possession with
 * a PIN or a fingerprint. Removing the second factor removes the passkeys, and a recovery code replaces a lost passkey.
 */
export function passkeys(settings: AuthSettings): BetterAuthPlugin {
  const { database, uiOrigin } = settings;
  const factors = createFactorCheck(settings);
  const check = createPasskeyCheck(settings);
  return {
    id: 'passkeys',
    rateLimit: [{ pathMatcher: (path) => path.startsWith('/passkeys/'), window: 10, max: 5 }],
    endpoints: {
      beginPasskey: createAuthEndpoint('/passkeys/begin', { method: 'POST', use }, async (ctx) => {
        const { user } = ctx.context.session;
        if ((await findSecondFactor(database, user.id)) === undefined) throw noFactor();
        const present = await listPasskeys(database, user.id);
        const options = await generateRegistrationOptions({
          rpID: check.rpID,
          rpName: check.rpID,
          userID: new TextEncoder().encode(user.id),
          userName: user.email,
          userDisplayName: user.name,
          attestationType: 'none',
          excludeCredentials: present.map(({ id }) => ({ id })),
          authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        });
        await check.keepChallenge(ctx, options.challenge);
        return ctx.json(options);
      }),
      addPasskey: createAuthEndpoint(
        '/passkeys/add',
        { method: 'POST', body: z.object({ name: z.string(), passkey: newPasskey }), use },
        async (ctx) => {
          const { user } = ctx.context.session;
          const { registrationInfo } = await verifyRegistrationResponse({
            response: ctx.body.passkey,
            expectedChallenge: await check.takeChallenge(ctx),
            expectedOrigin: uiOrigin,
            expectedRPID: check.rpID,
            requireUserVerification: true,
          }).catch(() => {
            throw invalidPasskey();
          });
          if (registrationInfo === undefined) throw invalidPasskey();
          const { id, publicKey, counter } = registrationInfo.credential;
          const action = 'member.passkey_added';
          await transaction(database, async (tx) => {
            if ((await findSecondFactor(tx, user.id)) === undefined) throw noFactor();
            const passkey = { id, userId: user.id, publicKey: Buffer.from(publicKey), counter };
            if (!(await insertPasskey(tx, { ...passkey, name: ctx.body.name }))) {
              throw new APIError('CONFLICT', {
                code: 'limit_reached',
                message: `The passkey is registered already, or you have ${MAX_PASSKEYS} passkeys, the most allowed.`,
              });
            }
            await recordFactorEvent(tx, actorOf(user, ctx.headers), { action, userId: user.id });
          });
          await factors.tell(user, action);
          return ctx.json({ status: true });
        },
      ),
      removePasskey: createAuthEndpoint(
        '/passkeys/remove',
        { method: 'POST', body: z.object({ id: z.string() }), use },
        async (ctx) => {
          const { user } = ctx.context.session;
          const action = 'member.passkey_removed';
          const removed = await transaction(database, async (tx) => {
            if (!(await removePasskey(tx, { id: ctx.body.id, userId: user.id }))) return false;
            await recordFactorEvent(tx, actorOf(user, ctx.headers), { action, userId: user.id });
            return true;
          });
          if (!removed) throw invalidPasskey();
          await factors.tell(user, action);
          return ctx.json({ status: true });
        },
      ),
      beginPasskeySignIn: createAuthEndpoint('/sign-in/passkey/begin', { method: 'POST' }, async (ctx) =>
        ctx.json(await check.begin(ctx)),
      ),
      signInPasskey: createAuthEndpoint(
        '/sign-in/passkey',
        { method: 'POST', body: z.object({ passkey: passkeyAssertion }) },
        async (ctx) => {
          const userId = await check.verify(ctx, ctx.body.passkey);
          const { internalAdapter } = ctx.context;
          const user = await internalAdapter.findUserById(userId);
          if (user === null) throw invalidPasskey();
          const session = await internalAdapter.createSession(userId);
          await setSessionCookie(ctx, { session, user });
          return ctx.json({ user });
        },
      ),
    },
  };
}
