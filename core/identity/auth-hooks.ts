import { APIError, createAuthMiddleware } from 'better-auth/api';
import { z } from 'zod';
import type { Db } from '#lib/database/index.ts';
import { signUpRefusal, type SignUpMode } from './sign-up.ts';
import { SIGN_INS, throttle, unthrottle } from './throttle.ts';

const signUpBody = z.object({ email: z.string(), invitation: z.string().optional() });
const signInBody = z.object({ email: z.string() });

const REFUSALS = {
  sign_up_closed: 'Nobody can sign up here.',
  invitation_required: 'Signing up needs an invitation of this address.',
} as const;

/** Builds what our rules add to the library's operations. */
export function authHooks({ database, signUp }: { database: Db; signUp: SignUpMode }) {
  return {
    before: createAuthMiddleware(async ({ path, body }) => {
      if (path === '/sign-up/email') await assertMaySignUp(database, signUp, body);
      if (path === '/sign-in/email') await countSignIn(database, body);
    }),
    after: createAuthMiddleware(async ({ path, body, context }) => {
      if (path !== '/sign-in/email' || context.returned instanceof APIError) return;
      const { success, data } = signInBody.safeParse(body);
      if (success) await unthrottle(database, SIGN_INS, data.email);
    }),
  };
}

async function assertMaySignUp(db: Db, mode: SignUpMode, body: unknown): Promise<void> {
  const { success, data } = signUpBody.safeParse(body);
  // The library says what is wrong with it; without an address nobody is invited.
  const asked = success ? data : { email: '', invitation: undefined };
  const { email, invitation } = asked;
  const refusal = await signUpRefusal(db, mode, { email, invitation });
  if (refusal === undefined) return;
  throw new APIError('FORBIDDEN', { code: refusal, message: REFUSALS[refusal] });
}

/** Counts an attempt whether or not there is such an account, before the password is looked at. */
async function countSignIn(db: Db, body: unknown): Promise<void> {
  const { success, data } = signInBody.safeParse(body);
  if (!success) return;
  const wait = await throttle(db, SIGN_INS, data.email);
  if (wait === undefined) return;
  throw new APIError(
    'TOO_MANY_REQUESTS',
    {
      code: 'rate_limited',
      message: 'Too many attempts to sign in to this account; try again later.',
    },
    { 'Retry-After': String(wait) },
  );
}
