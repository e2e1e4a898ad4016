import type { BetterAuthPlugin } from 'better-auth';
import {
  APIError,
  createAuthEndpoint,
  createAuthMiddleware,
  getSessionFromCtx,
  sensitiveSessionMiddleware,
} from 'better-auth/api';
import { z } from 'zod';
import { now } from '#lib/clock.ts';
import { AppError, ERRORS } from '#lib/errors.ts';
import type { AuthSettings } from './auth-options.ts';
import { acceptGuess, assertMayGuess, guessByPerson } from './guesses.ts';
import { createFactorCheck, factorProof } from './second-factor/check.ts';
import { createPasskeyCheck, invalidPasskey, passkeyAssertion } from './second-factor/passkey-check.ts';
import { findSecondFactor } from './second-factor/store.ts';

const PROOF_MS = 15 * 60 * 1_000;

/**
 * Requires a recent proof of who the person is, before a change of access.
 * @throws {AppError} `reauthentication_required`
 */
export function assertFreshProof({ provenAt }: { readonly provenAt: Date }): void {
  if (!isFresh(provenAt)) throw new AppError('reauthentication_required');
}

function isFresh(provenAt: Date): boolean {
  return now() - provenAt.getTime() < PROOF_MS;
}

/** Operations of the library and of this service that require a fresh proof. */
const NEED_PROOF: ReadonlySet<string> = new Set([
  '/change-email',
  '/second-factor/begin',
  '/second-factor/confirm',
  '/second-factor/recovery-codes',
  '/second-factor/remove',
  '/passkeys/begin',
  '/passkeys/add',
  '/passkeys/remove',
]);

/** Operations that take the password: without a second factor, the password is proof enough. */
const TAKE_PASSWORD: ReadonlySet<string> = new Set(['/change-password', '/delete-user']);

const sessionWithProof = z.object({ provenAt: z.date() });

/**
 * Adds the operation that proves who a person is, and requires a recent proof before the person changes their sign-in.
 */
export function freshProof(settings: AuthSettings): BetterAuthPlugin {
  const { database } = settings;
  const check = createFactorCheck(settings);
  const checkPasskey = createPasskeyCheck(settings);
  return {
    id: 'fresh-proof',
    rateLimit: [{ pathMatcher: (path) => path === '/prove', window: 10, max: 5 }],
    hooks: {
      before: [
        {
          matcher: ({ path = '' }) => NEED_PROOF.has(path) || TAKE_PASSWORD.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const found = await getSessionFromCtx(ctx);
            // Leave a request without a session to the operation itself, which refuses it.
            if (found === null) return;
            if (isFresh(sessionWithProof.parse(found.session).provenAt)) return;
            const isPasswordEnough =
              TAKE_PASSWORD.has(ctx.path) && (await findSecondFactor(database, found.user.id)) === undefined;
            if (isPasswordEnough) return;
            const [, message] = ERRORS.reauthentication_required;
            throw new APIError('FORBIDDEN', { code: 'reauthentication_required', message });
          }),
        },
      ],
    },
    endpoints: {
      prove: createAuthEndpoint(
        '/prove',
        {
          method: 'POST',
          body: factorProof.extend({
            password: z.string().optional(),
            passkey: passkeyAssertion.optional(),
          }),
          use: [sensitiveSessionMiddleware],
        },
        async (ctx) => {
          const { user, session } = ctx.context.session;
          const { passkey } = ctx.body;
          if (passkey !== undefined) {
            if ((await checkPasskey.verify(ctx, passkey)) !== user.id) throw invalidPasskey();
          } else if ((await findSecondFactor(database, user.id)) === undefined) {
            const guess = guessByPerson('own-password', user.id);
            await assertMayGuess(database, guess);
            await ctx.context.password.checkPassword(user.id, ctx);
            await acceptGuess(database, guess);
          } else if (!(await check.accept(user, ctx.body, ctx.headers))) {
            throw new APIError('BAD_REQUEST', {
              code: 'invalid_code',
              message: 'The code is wrong or was used before.',
            });
          }
          await database.run`update sessions set proven_at = now() where id = ${session.id}`;
          return ctx.json({ status: true });
        },
      ),
    },
  };
}
