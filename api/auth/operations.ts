import { z } from 'zod';
import { isCommonPassword } from '#core/accounts/identity/index.ts';
import { nameOf } from '#lib/schemas.ts';
import { emailAddress } from '../http/schemas.ts';
import { done, givenPassword, operation, session, user, type AuthOperation } from './operation.ts';
import { factorOperations } from './factor-operations.ts';

const password = z
  .string()
  .min(10)
  .max(128)
  .refine((text) => !isCommonPassword(text), {
    error: 'one of the most common passwords, which attackers try first; choose another',
  })
  .meta({ format: 'password', description: 'Not one of the ten thousand most common passwords.' });
const token = z.string().min(1).max(2_000).describe('The token from the mail.');
const returnTo = z
  .string()
  .min(1)
  .max(2_000)
  .describe('Target of the link in the mail: a path, or an address of the user interface.');

/** Lists all operations that are served under `/auth`; all other operations of the library are switched off. */
export const authOperations: readonly AuthOperation[] = [
  operation('POST /sign-up/email', {
    id: 'signUp',
    summary: 'Sign up',
    description:
      'The response is the same for an address with an account, and does not sign in. With a mail server the address must be confirmed first. The operator’s `SIGN_UP` decides who may sign up; `invited` needs the token of an invitation to this address.',
    body: z.strictObject({
      name: nameOf(100),
      email: emailAddress,
      password,
      invitation: z.string().min(1).max(100).optional(),
      callbackURL: returnTo.optional(),
    }),
    success: z.object({ user }),
    errors: { 403: ['invitation_required', 'sign_up_closed', 'invalid_callback_url'] },
  }),
  operation('POST /sign-in/email', {
    id: 'signIn',
    summary: 'Sign in',
    description:
      'Sets the session cookie, and a cookie that identifies this browser. For a person with a second factor the response is `secondFactorRequired` instead: continue with `POST /auth/sign-in/second-factor`. Limits in a quarter of an hour: ten attempts for an account from one network or one known browser, and 200 from all networks together, which do not count against known browsers. Unknown addresses are counted like known ones. One network has at most three attempts in ten seconds.',
    body: z.strictObject({
      email: emailAddress,
      password: givenPassword,
      rememberMe: z.boolean().optional().describe('False ends the session when the browser is closed.'),
      callbackURL: returnTo.optional(),
    }),
    success: z.union([z.object({ user }), z.object({ secondFactorRequired: z.literal(true) })]),
    errors: {
      401: ['invalid_email_or_password'],
      403: ['email_not_verified', 'invalid_callback_url'],
    },
  }),
  operation('POST /sign-out', {
    id: 'signOut',
    summary: 'Sign out',
    body: z.strictObject({}),
    success: z.object({ success: z.boolean() }),
    errors: {},
  }),
  operation('GET /get-session', {
    id: 'getSession',
    summary: 'Read the present session',
    description: 'The response is null without a session.',
    success: z.object({ session, user }).nullable(),
    errors: {},
  }),
  operation('POST /send-verification-email', {
    id: 'sendVerificationEmail',
    summary: 'Mail the confirmation of an address again',
    description:
      'One address gets at most five such mails an hour. The response does not tell whether there is an account.',
    body: z.strictObject({ email: emailAddress, callbackURL: returnTo.optional() }),
    success: done,
    errors: {
      400: ['verification_email_not_enabled', 'email_mismatch', 'email_already_verified'],
      403: ['invalid_callback_url'],
    },
  }),
  operation('GET /verify-email', {
    id: 'verifyEmail',
    summary: 'Confirm an address',
    description: 'The target of the link in the mail. It redirects to `callbackURL`, with `error` on a failure.',
    query: z.strictObject({
      token,
      callbackURL: returnTo.optional().describe('Address to which the link leads afterwards.'),
    }),
    success: done,
    redirects: true,
    errors: {
      401: ['invalid_token', 'token_expired', 'user_not_found'],
      403: ['invalid_callback_url'],
    },
  }),
  operation('POST /request-password-reset', {
    id: 'requestPasswordReset',
    summary: 'Mail a link to choose a new password',
    description:
      'The response does not tell whether there is an account. At most five such mails an hour go to one address.',
    body: z.strictObject({ email: emailAddress }),
    success: done,
    errors: { 400: ['reset_password_disabled'] },
  }),
  operation('POST /reset-password', {
    id: 'resetPassword',
    summary: 'Choose a new password',
    description: 'Ends every session of the account, and resets its count of attempts. This browser is then known.',
    body: z.strictObject({
      newPassword: password,
      token,
      endPrograms: z
        .boolean()
        .optional()
        .describe(
          'Also revokes the API keys that the person made, those of their terminals too, and disconnects their assistants.',
        ),
    }),
    success: done,
    errors: { 400: ['invalid_token'] },
  }),
  operation('POST /change-password', {
    id: 'changePassword',
    summary: 'Change your password',
    description: 'Five attempts in a quarter of an hour, including attempts to delete the account.',
    body: z.strictObject({
      currentPassword: givenPassword,
      newPassword: password,
      revokeOtherSessions: z.boolean().optional(),
    }),
    success: z.object({ user }),
    needsSession: true,
    errors: { 400: ['invalid_password'], 403: ['reauthentication_required'] },
  }),
  operation('POST /change-email', {
    id: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'Needs a mail server. The present address confirms first, then the new one. The response does not tell whether another account has the new address.',
    body: z.strictObject({ newEmail: emailAddress, callbackURL: returnTo.optional() }),
    success: done,
    needsSession: true,
    errors: {
      400: ['change_email_disabled'],
      403: ['invalid_callback_url', 'reauthentication_required'],
    },
  }),
  operation('POST /update-user', {
    id: 'updateUser',
    summary: 'Change your name',
    body: z.strictObject({ name: nameOf(100) }),
    success: done,
    needsSession: true,
    errors: {},
  }),
  operation('POST /delete-user', {
    id: 'deleteUser',
    summary: 'Delete your account',
    description:
      'Ends every session and membership, and revokes the API keys that you made. The last owner of an organization must first hand it over or delete it.',
    body: z.strictObject({ password: givenPassword }),
    success: z.object({ success: z.boolean() }),
    needsSession: true,
    errors: {
      400: ['invalid_password'],
      403: ['reauthentication_required'],
      409: ['last_owner'],
    },
  }),
  ...factorOperations,
];
