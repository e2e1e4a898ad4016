import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware } from 'better-auth/api';
import { z } from 'zod';
import { transaction, type Db } from '#lib/database/index.ts';
import type { AuthSettings } from '../auth-options.ts';
import { acceptGuess, assertMayGuess, guessByPerson } from '../guesses.ts';
import {
  actorOf,
  createFactorCheck,
  noFactor,
  recordFactorEvent,
  type FactorEvent,
  type FactorOwner,
} from './check.ts';
import { listPasskeys } from './passkey-check.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  findSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
  totpUri,
} from './store.ts';

const use = [sensitiveSessionMiddleware];

/** Lets a person add a second factor, replace its recovery codes and remove it. */
export function factorEnrolment(settings: AuthSettings): BetterAuthPlugin {
  const { database, secrets } = settings;
  const check = createFactorCheck(settings);
  const issuer = new URL(settings.uiOrigin).hostname;

  /** Makes a change with its audit events, then mails and logs it. A change that returns undefined had no effect. */
  async function change<R>(
    { user, headers }: { user: FactorOwner; headers: Headers | undefined },
    action: FactorEvent,
    make: (tx: Db) => Promise<R | undefined>,
  ): Promise<R | undefined> {
    const made = await transaction(database, async (tx) => {
      const result = await make(tx);
      if (result === undefined) return undefined;
      await recordFactorEvent(tx, actorOf(user, headers), { action, userId: user.id });
      return result;
    });
    if (made !== undefined) await check.tell(user, action);
    return made;
  }

  return {
    id: 'second-factor-enrolment',
    rateLimit: [{ pathMatcher: (path) => path.startsWith('/second-factor/'), window: 10, max: 5 }],
    endpoints: {
      readSecondFactor: createAuthEndpoint('/second-factor', { method: 'GET', use }, async (ctx) => {
        const { id } = ctx.context.session.user;
        const found = await findSecondFactor(database, id);
        return ctx.json({
          confirmedAt: found?.confirmedAt ?? null,
          recoveryCodesLeft: found?.recoveryCodesLeft ?? 0,
          passkeys: await listPasskeys(database, id),
        });
      }),
      beginSecondFactor: createAuthEndpoint('/second-factor/begin', { method: 'POST', use }, async (ctx) => {
        const { user } = ctx.context.session;
        const secret = await beginSecondFactor(database, secrets, user.id);
        if (secret === undefined) {
          throw new APIError('CONFLICT', {
            code: 'second_factor_exists',
            message: 'You have a second factor; remove it first.',
          });
        }
        return ctx.json({ secret, uri: totpUri(secret, { issuer, account: user.email }) });
      }),
      confirmSecondFactor: createAuthEndpoint(
        '/second-factor/confirm',
        { method: 'POST', body: z.object({ code: z.string() }), use },
        async (ctx) => {
          const { user, session } = ctx.context.session;
          const guess = guessByPerson('second-factor', user.id);
          await assertMayGuess(database, guess);
          const by = { user, headers: ctx.headers };
          const recoveryCodes = await change(by, 'member.second_factor_added', async (tx) => {
            const input = { userId: user.id, code: ctx.body.code };
            const codes = await confirmSecondFactor(tx, secrets, input);
            if (codes === undefined) return undefined;
            // End the other sessions, because they began with the password alone.
            await tx.run`delete from sessions where user_id = ${user.id} and id <> ${session.id}`;
            return codes;
          });
          if (recoveryCodes === undefined) {
            throw new APIError('BAD_REQUEST', {
              code: 'invalid_code',
              message: 'The code is wrong. Is the clock of your device right?',
            });
          }
          await acceptGuess(database, guess);
          return ctx.json({ recoveryCodes });
        },
      ),
      replaceRecoveryCodes: createAuthEndpoint(
        '/second-factor/recovery-codes',
        { method: 'POST', use },
        async (ctx) => {
          const { user } = ctx.context.session;
          const by = { user, headers: ctx.headers };
          const recoveryCodes = await change(by, 'member.recovery_codes_replaced', async (tx) =>
            (await findSecondFactor(tx, user.id)) === undefined ? undefined : replaceRecoveryCodes(tx, user.id),
          );
          if (recoveryCodes === undefined) throw noFactor();
          return ctx.json({ recoveryCodes });
        },
      ),
      removeSecondFactor: createAuthEndpoint('/second-factor/remove', { method: 'POST', use }, async (ctx) => {
        const { user } = ctx.context.session;
        const by = { user, headers: ctx.headers };
        const removed = await change(by, 'member.second_factor_removed', async (tx) =>
          (await removeSecondFactor(tx, user.id)) ? true : undefined,
        );
        if (removed === undefined) throw noFactor();
        return ctx.json({ status: true });
      }),
    },
  };
}
