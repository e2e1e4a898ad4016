import { APIError, createAuthMiddleware, getIP, getSessionFromCtx } from 'better-auth/api';
import { z } from 'zod';
import { isInvited } from '#core/accounts/organizations/index.ts';
import { throttle } from '#core/foundation/rate-limits/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import {
  acceptGuess,
  countGuess,
  forgetGuesses,
  guessByPerson,
  SIGN_INS_OF_NETWORK,
  takeBackGuess,
  tooManyGuesses,
  type Guess,
  type KnownBrowsers,
} from './guesses.ts';
import { goFirst, NOT_CHECKED } from './passwords.ts';
import { findSecondFactor } from './second-factor/store.ts';

/** People who may sign up: everyone, only those with an invitation, or no one. */
export type SignUpMode = 'open' | 'invited' | 'closed';

interface AuthRules {
  readonly database: Db;
  readonly signUp: SignUpMode;
  readonly browsers: KnownBrowsers;
  readonly endPrograms: (userId: string) => Promise<void>;
  readonly log: Log | undefined;
}

/** Value that the library stores with a token for a new password: the person's id and the token's expiry. */
interface ResetToken {
  readonly value: string;
  readonly expiresAt: Date;
}

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** Log lines for operations that sign a person in or change a sign-in. */
const EVENTS: Readonly<Record<string, { readonly done: string; readonly refused: string }>> = {
  '/sign-in/email': { done: 'signed in', refused: 'a sign-in was refused' },
  '/sign-in/second-factor': { done: 'signed in', refused: 'a second factor was refused' },
  '/sign-in/passkey': { done: 'signed in', refused: 'a passkey was refused' },
  '/prove': { done: 'a person proved who they are', refused: 'a proof was refused' },
  '/reset-password': { done: 'a password was reset', refused: 'a new password was refused' },
  '/change-password': { done: 'a password was changed', refused: 'a new password was refused' },
  '/change-email': {
    done: 'a change of address was asked for',
    refused: 'a change of address was refused',
  },
  '/delete-user': { done: 'an account was deleted', refused: 'a deletion was refused' },
};

/** Builds the hooks that add this service's rules to the library's operations. */
export function authHooks(rules: AuthRules) {
  const { database, browsers, log } = rules;
  const resets = new WeakMap<Request, ResetToken>();

  async function guessOf(ctx: HookContext): Promise<Guess | undefined> {
    switch (ctx.path) {
      case '/sign-in/email': {
        const { success, data } = signInBody.safeParse(ctx.body);
        return success ? signInGuess(ctx, data.email) : undefined;
      }
      case '/change-password':
      case '/delete-user': {
        const account = (await getSessionFromCtx(ctx))?.user.id;
        return account === undefined ? undefined : guessByPerson('own-password', account);
      }
      default:
        return undefined;
    }
  }

  async function signInGuess(ctx: HookContext, account: string): Promise<Guess> {
    const browserId = await browsers.recognize(account, (name) => ctx.getCookie(name));
    return {
      kind: 'password',
      account,
      network: (ctx.headers && getIP(ctx.headers, ctx.context.options)) ?? '',
      browserId,
    };
  }

  async function remember(ctx: HookContext, { account, browserId }: Guess): Promise<void> {
    const { name, value, maxAgeSeconds } = await browsers.remember(account, browserId);
    const { secure = false } = ctx.context.options.advanced?.defaultCookieAttributes ?? {};
    ctx.setCookie(name, value, {
      httpOnly: true,
      secure,
      sameSite: 'lax',
      path: '/',
      maxAge: maxAgeSeconds,
    });
  }

  /** Counts an attempt before the password is checked, even for an account that does not exist. */
  async function assertMayGuess(ctx: HookContext, guess: Guess): Promise<void> {
    const isStranger = guess.kind === 'password' && guess.browserId === undefined;
    const wait =
      (isStranger ? await throttle(database, SIGN_INS_OF_NETWORK, guess.network) : undefined) ??
      (await countGuess(database, guess));
    if (wait === undefined) {
      if (!isStranger) goFirst();
      return;
    }
    await report(ctx, 'rate_limited');
    throw tooManyGuesses(wait);
  }

  /** Logs a sign-in, a change of how a person signs in, or a refusal. The log adds the address to each line. */
  async function report(ctx: HookContext, reason?: string): Promise<void> {
    const { newSession, session } = ctx.context;
    // This path makes a session only when a new address is confirmed.
    const changed = ctx.path === '/verify-email' && newSession ? 'an address was changed' : '';
    const event = EVENTS[ctx.path] ?? { done: changed, refused: '' };
    const what = reason === undefined ? event.done : event.refused;
    if (log === undefined || what === '') return;
    const reset = ctx.request && resets.get(ctx.request);
    const userId = newSession?.user.id ?? session?.user.id ?? reset?.value ?? (await accountOf(database, ctx.body));
    if (reason !== undefined) log.warn({ userId, reason }, what);
    // The plugin that asks for the second factor runs later, so this sign-in is not complete yet.
    else if (ctx.path === '/sign-in/email' && userId && (await findSecondFactor(database, userId)))
      log.info({ userId }, 'a password was right, and a second factor is asked for');
    else log.info({ userId }, what);
  }

  async function findReset({ request, body, context }: HookContext): Promise<void> {
    const { data } = resetBody.safeParse(body);
    if (request === undefined || data === undefined) return;
    const token = await context.internalAdapter.findVerificationValue(resetOf(data.token));
    if (token === null) return;
    resets.set(request, token);
    goFirst();
  }

  /**
   * Clears an account's counts of guesses after a reset. If the new password was not checked, restores the token, so
   * that the person can try again.
   */
  async function afterReset(ctx: HookContext, errorCode: string | undefined): Promise<void> {
    const { internalAdapter } = ctx.context;
    const { data } = resetBody.safeParse(ctx.body);
    const reset = ctx.request && resets.get(ctx.request);
    if (reset === undefined || data === undefined) return;
    if (errorCode === NOT_CHECKED) {
      const { value, expiresAt } = reset;
      await internalAdapter.createVerificationValue({
        identifier: resetOf(data.token),
        value,
        expiresAt,
      });
    }
    const user = errorCode === undefined ? await internalAdapter.findUserById(reset.value) : null;
    if (user === null) return;
    const freed = await signInGuess(ctx, user.email);
    await forgetGuesses(database, freed);
    await forgetGuesses(database, guessByPerson('own-password', user.id));
    await remember(ctx, freed);
    if (data.endPrograms === true) await rules.endPrograms(user.id);
  }

  return {
    before: createAuthMiddleware(async (ctx) => {
      if (ctx.path === '/reset-password') await findReset(ctx);
      if (ctx.path === '/sign-up/email') await assertMaySignUp(database, rules.signUp, ctx.body);
      const guess = await guessOf(ctx);
      if (guess !== undefined) await assertMayGuess(ctx, guess);
    }),
    after: createAuthMiddleware(async (ctx) => {
      const { returned } = ctx.context;
      const isRefused = returned instanceof APIError && returned.statusCode >= 400;
      const errorCode = isRefused ? (returned.body?.code ?? String(returned.status)).toLowerCase() : undefined;
      const guess = await guessOf(ctx);
      // The last owner of an organization is refused only after the right password, so the attempt counts as right.
      if (guess !== undefined && (errorCode === undefined || errorCode === 'last_owner')) {
        await acceptGuess(database, guess);
        if (guess.kind === 'password') await remember(ctx, guess);
      } else if (guess !== undefined && errorCode === NOT_CHECKED) {
        await takeBackGuess(database, guess);
      }
      if (ctx.path === '/reset-password') await afterReset(ctx, errorCode);
      await report(ctx, errorCode);
    }),
  };
}

const signInBody = z.object({ email: z.string() });
const resetBody = z.object({ token: z.string(), endPrograms: z.boolean().optional() });

function resetOf(token: string): string {
  return `reset-password:${token}`;
}

const signUpBody = z.object({ email: z.string(), invitation: z.string().optional() });

const SIGN_UP_REFUSALS = {
  sign_up_closed: 'No one can sign up here.',
  invitation_required: 'To sign up, you need an invitation to this address.',
} as const;

/**
 * Refuses a sign-up that the mode does not allow. The response is the same whether or not the address has an account,
 * so it does not reveal accounts.
 */
async function assertMaySignUp(db: Db, mode: SignUpMode, body: unknown): Promise<void> {
  if (mode === 'open') return;
  if (mode === 'invited') {
    // Leave a body that cannot be parsed to the library, which reports it.
    const { email = '', invitation } = signUpBody.safeParse(body).data ?? {};
    if (invitation !== undefined && (await isInvited(db, email, invitation))) return;
  }
  const code = mode === 'closed' ? 'sign_up_closed' : 'invitation_required';
  throw new APIError('FORBIDDEN', { code, message: SIGN_UP_REFUSALS[code] });
}

async function accountOf(db: Db, body: unknown): Promise<string | undefined> {
  const { success, data } = signInBody.safeParse(body);
  if (!success) return undefined;
  const email = data.email.toLowerCase();
  return (await db.row<{ id: string }>`select id from users where email = ${email}`)?.id;
}
