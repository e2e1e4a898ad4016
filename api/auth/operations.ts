import { z } from 'zod';
import { isCommonPassword, newPasskey, passkeyAssertion } from '#core/identity/index.ts';
import { emailAddress, nameOf } from '../http/schemas.ts';
import type { AuthOperation } from './operation.ts';
import { done, session, user } from './schemas.ts';

const password = z
  .string()
  .min(10)
  .max(128)
  .refine((text) => !isCommonPassword(text), {
    error: 'one of the most common passwords, which guessing begins with; choose another',
  })
  .meta({ format: 'password', description: 'None of the ten thousand most common ones.' });
/** A password that is only compared; one that was set under older rules still has to fit. */
const givenPassword = z.string().min(1).max(128).meta({ format: 'password' });
const code = z
  .string()
  .regex(/^[0-9]{6}$/, 'must be six digits')
  .meta({ description: 'Of the authenticator; each counts once.', example: '492039' });
const recoveryCode = z.string().min(1).max(100).meta({ description: 'Each counts once.' });
const recoveryCodes = z
  .object({
    recoveryCodes: z.array(z.string()).meta({
      description: 'Ten, shown once: only their hashes are kept. Each signs in once.',
    }),
  })
  .meta({ id: 'RecoveryCodes' });
const passkeyOptions = z
  .looseObject({ challenge: z.string() })
  .meta({ id: 'PasskeyOptions', description: 'Options in JSON as WebAuthn Level 3 has them.' });
const token = z.string().min(1).max(2_000).meta({ description: 'From the mail.' });
const returnTo = z.string().min(1).max(2_000).meta({
  description: 'Where the link in the mail leads to: a path, or an address of the user interface.',
});

/** Lists all operations that are served under `/auth`; the library's other ones are switched off. */
export const authOperations: readonly AuthOperation[] = [
  {
    method: 'POST',
    path: '/sign-up/email',
    id: 'signUp',
    summary: 'Sign up',
    description:
      'The response is the same whether or not the address has an account, and signs nobody in. With a mail server the address is confirmed first. `SIGN_UP` of the operator says who may: `invited` needs the token of an invitation of this address.',
    body: z.strictObject({
      name: nameOf(100),
      email: emailAddress,
      password,
      invitation: z.string().min(1).max(100).optional(),
      callbackURL: returnTo.optional(),
    }),
    success: z.object({ user }),
    errors: { 403: ['invitation_required', 'sign_up_closed', 'invalid_callback_url'] },
  },
  {
    method: 'POST',
    path: '/sign-in/email',
    id: 'signIn',
    summary: 'Sign in',
    description:
      'Sets the session cookie, and one by which this browser is known to have been signed in; for a person with a second factor it responds with `secondFactorRequired` instead, and `POST /auth/sign-in/second-factor` goes on. In a quarter of an hour ten attempts for an account from one network, or from one browser that is known, then 429; 200 from all networks together, which do not count against known browsers. Unknown addresses are counted as known ones are. At most three in ten seconds from one network.',
    body: z.strictObject({
      email: emailAddress,
      password: givenPassword,
      rememberMe: z
        .boolean()
        .optional()
        .meta({ description: 'False ends the session with the browser.' }),
      callbackURL: returnTo.optional(),
    }),
    success: z.union([z.object({ user }), z.object({ secondFactorRequired: z.literal(true) })]),
    errors: {
      401: ['invalid_email_or_password'],
      403: ['email_not_verified', 'invalid_callback_url'],
    },
  },
  {
    method: 'POST',
    path: '/sign-in/second-factor',
    id: 'signInSecondFactor',
    summary: 'Give the second factor of a sign-in',
    description:
      'After `secondFactorRequired`, within ten minutes and with the cookie of that response: a code, or one of the recovery codes. Ten attempts for an account in a quarter of an hour.',
    body: z.strictObject({ code: code.optional(), recoveryCode: recoveryCode.optional() }),
    success: z.object({ user }),
    errors: { 401: ['invalid_code', 'sign_in_expired'] },
  },
  {
    method: 'POST',
    path: '/prove',
    id: 'prove',
    summary: 'Prove again who you are',
    description:
      'What changes access responds with 403 `reauthentication_required` when the last proof of the session is over 15 minutes ago; signing in is one. Whoever has a second factor gives a code, a recovery code or a passkey, others their password.',
    body: z.strictObject({
      password: givenPassword.optional(),
      code: code.optional(),
      recoveryCode: recoveryCode.optional(),
      passkey: passkeyAssertion.optional(),
    }),
    success: done,
    needsSession: true,
    errors: { 400: ['invalid_password', 'invalid_code', 'invalid_passkey'] },
  },
  {
    method: 'GET',
    path: '/second-factor',
    id: 'readSecondFactor',
    summary: 'Read your second factor',
    success: z
      .object({
        confirmedAt: z
          .string()
          .nullable()
          .meta({ description: 'Since when you have one; null for none.' }),
        recoveryCodesLeft: z.number().int(),
        passkeys: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            createdAt: z.string(),
            lastUsedAt: z.string().nullable(),
          }),
        ),
      })
      .meta({ id: 'SecondFactor' }),
    needsSession: true,
    errors: {},
  },
  {
    method: 'POST',
    path: '/second-factor/begin',
    id: 'beginSecondFactor',
    summary: 'Begin to add a second factor',
    description:
      'Makes a secret for an authenticator (RFC 6238: SHA-1, six digits, 30 seconds). It counts for nothing until it is confirmed by a code.',
    body: z.strictObject({}),
    success: z
      .object({
        secret: z.string().meta({ description: 'In base32, to type.' }),
        uri: z.string().meta({ description: 'For a QR code.', example: 'otpauth://totp/…' }),
      })
      .meta({ id: 'BegunSecondFactor' }),
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 409: ['second_factor_exists'] },
  },
  {
    method: 'POST',
    path: '/second-factor/confirm',
    id: 'confirmSecondFactor',
    summary: 'Confirm a second factor by a code',
    description: 'Ends your other sessions. From then on signing in needs a code.',
    body: z.strictObject({ code }),
    success: recoveryCodes,
    needsSession: true,
    errors: { 400: ['invalid_code'], 403: ['reauthentication_required'] },
  },
  {
    method: 'POST',
    path: '/second-factor/recovery-codes',
    id: 'replaceRecoveryCodes',
    summary: 'Make new recovery codes',
    description: 'The earlier ones no longer work.',
    body: z.strictObject({}),
    success: recoveryCodes,
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 404: ['second_factor_not_found'] },
  },
  {
    method: 'POST',
    path: '/second-factor/remove',
    id: 'removeSecondFactor',
    summary: 'Remove your second factor',
    description: 'Your passkeys are removed with it.',
    body: z.strictObject({}),
    success: done,
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 404: ['second_factor_not_found'] },
  },
  {
    method: 'POST',
    path: '/sign-in/passkey/begin',
    id: 'beginPasskeySignIn',
    summary: 'Begin a sign-in with a passkey',
    description:
      'Also begins a proof by a passkey. The challenge is for this browser and five minutes.',
    body: z.strictObject({}),
    success: passkeyOptions,
    errors: {},
  },
  {
    method: 'POST',
    path: '/sign-in/passkey',
    id: 'signInPasskey',
    summary: 'Sign in with a passkey',
    description: 'A passkey is asked for a PIN or a finger, and needs no password.',
    body: z.strictObject({ passkey: passkeyAssertion }),
    success: z.object({ user }),
    errors: { 400: ['invalid_passkey'] },
  },
  {
    method: 'POST',
    path: '/passkeys/begin',
    id: 'beginPasskey',
    summary: 'Begin to add a passkey',
    description:
      'Needs a second factor, whose recovery codes are the way back when a passkey is lost.',
    body: z.strictObject({}),
    success: passkeyOptions,
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 404: ['second_factor_not_found'] },
  },
  {
    method: 'POST',
    path: '/passkeys/add',
    id: 'addPasskey',
    summary: 'Add a passkey',
    body: z.strictObject({ name: nameOf(100), passkey: newPasskey }),
    success: done,
    needsSession: true,
    errors: {
      400: ['invalid_passkey'],
      403: ['reauthentication_required'],
      404: ['second_factor_not_found'],
      409: ['limit_reached'],
    },
  },
  {
    method: 'POST',
    path: '/passkeys/remove',
    id: 'removePasskey',
    summary: 'Remove a passkey',
    body: z.strictObject({ id: z.string().min(1).max(1_400) }),
    success: done,
    needsSession: true,
    errors: { 400: ['invalid_passkey'], 403: ['reauthentication_required'] },
  },
  {
    method: 'POST',
    path: '/sign-out',
    id: 'signOut',
    summary: 'Sign out',
    body: z.strictObject({}),
    success: z.object({ success: z.boolean() }),
    errors: {},
  },
  {
    method: 'GET',
    path: '/get-session',
    id: 'getSession',
    summary: 'Read the present session',
    description: 'Null when nobody is signed in.',
    success: z.object({ session, user }).nullable(),
    errors: {},
  },
  {
    method: 'POST',
    path: '/send-verification-email',
    id: 'sendVerificationEmail',
    summary: 'Mail the confirmation of an address again',
    description:
      'At most five such mails an hour go to one address. The response tells of no account.',
    body: z.strictObject({ email: emailAddress, callbackURL: returnTo.optional() }),
    success: done,
    errors: {
      400: ['verification_email_not_enabled', 'email_mismatch', 'email_already_verified'],
      403: ['invalid_callback_url'],
    },
  },
  {
    method: 'GET',
    path: '/verify-email',
    id: 'verifyEmail',
    summary: 'Confirm an address',
    description:
      'The link in the mail. With `callbackURL` it leads there, with `error` when it failed.',
    query: z.strictObject({
      token,
      callbackURL: returnTo.optional().meta({ description: 'Where it leads to afterwards.' }),
    }),
    success: done,
    redirects: true,
    errors: {
      401: ['invalid_token', 'token_expired', 'user_not_found'],
      403: ['invalid_callback_url'],
    },
  },
  {
    method: 'POST',
    path: '/request-password-reset',
    id: 'requestPasswordReset',
    summary: 'Mail a link to choose a new password',
    description:
      'The response tells of no account. At most five such mails an hour go to one address.',
    body: z.strictObject({ email: emailAddress }),
    success: done,
    errors: { 400: ['reset_password_disabled'] },
  },
  {
    method: 'POST',
    path: '/reset-password',
    id: 'resetPassword',
    summary: 'Choose a new password',
    description:
      'Ends every session of the account, and forgets the attempts to sign in to it. This browser is then known.',
    body: z.strictObject({ newPassword: password, token }),
    success: done,
    errors: { 400: ['invalid_token'] },
  },
  {
    method: 'POST',
    path: '/change-password',
    id: 'changePassword',
    summary: 'Change your password',
    description:
      'Five attempts in a quarter of an hour, together with those to delete the account.',
    body: z.strictObject({
      currentPassword: givenPassword,
      newPassword: password,
      revokeOtherSessions: z.boolean().optional(),
    }),
    success: z.object({ user }),
    needsSession: true,
    errors: { 400: ['invalid_password'], 403: ['reauthentication_required'] },
  },
  {
    method: 'POST',
    path: '/change-email',
    id: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'Needs a mail server. The present address agrees first, then the new one confirms. The response tells of no other account.',
    body: z.strictObject({ newEmail: emailAddress, callbackURL: returnTo.optional() }),
    success: done,
    needsSession: true,
    errors: {
      400: ['change_email_disabled'],
      403: ['invalid_callback_url', 'reauthentication_required'],
    },
  },
  {
    method: 'POST',
    path: '/update-user',
    id: 'updateUser',
    summary: 'Change your name',
    body: z.strictObject({ name: nameOf(100) }),
    success: done,
    needsSession: true,
    errors: {},
  },
  {
    method: 'POST',
    path: '/delete-user',
    id: 'deleteUser',
    summary: 'Delete your account',
    description:
      'Ends every session and membership, and revokes the API keys that you made. The last owner of an organization hands it over or deletes it first.',
    body: z.strictObject({ password: givenPassword }),
    success: z.object({ success: z.boolean() }),
    needsSession: true,
    errors: {
      400: ['invalid_password'],
      403: ['reauthentication_required'],
      409: ['last_owner'],
    },
  },
];
