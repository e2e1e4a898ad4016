import { z } from 'zod';
import { newPasskey, passkeyAssertion } from '#core/accounts/identity/index.ts';
import { nameOf } from '#lib/schemas.ts';
import { done, givenPassword, operation, user, type AuthOperation } from './operation.ts';

const code = z
  .string()
  .regex(/^[0-9]{6}$/, 'must be six digits')
  .meta({ description: 'Code of the authenticator, valid once.', example: '492039' });
const recoveryCode = z.string().min(1).max(100).describe('A recovery code. Each code is valid once.');
const recoveryCodes = z
  .object({
    recoveryCodes: z
      .array(z.string())
      .describe('Ten codes, shown once: only their hashes are kept. Each code signs in once.'),
  })
  .meta({ id: 'RecoveryCodes' });
const passkeyOptions = z
  .looseObject({ challenge: z.string() })
  .meta({ id: 'PasskeyOptions', description: 'The options as JSON, in the form of WebAuthn Level 3.' });

/** Lists the operations of second factors and passkeys, and the proof of identity. */
export const factorOperations: readonly AuthOperation[] = [
  operation('POST /sign-in/second-factor', {
    id: 'signInSecondFactor',
    summary: 'Give the second factor of a sign-in',
    description:
      'Ends a sign-in that responded with `secondFactorRequired`, within ten minutes and with the cookie of that response. Takes a code or a recovery code; an account has ten attempts in a quarter of an hour.',
    body: z.strictObject({ code: code.optional(), recoveryCode: recoveryCode.optional() }),
    success: z.object({ user }),
    errors: { 401: ['invalid_code', 'sign_in_expired'] },
  }),
  operation('POST /sign-in/passkey/begin', {
    id: 'beginPasskeySignIn',
    summary: 'Begin a sign-in with a passkey',
    description: 'Begins a proof by a passkey too. The challenge is valid for five minutes, in this browser.',
    body: z.strictObject({}),
    success: passkeyOptions,
    errors: {},
  }),
  operation('POST /sign-in/passkey', {
    id: 'signInPasskey',
    summary: 'Sign in with a passkey',
    description: 'The browser asks for a PIN or a fingerprint. No password is needed.',
    body: z.strictObject({ passkey: passkeyAssertion }),
    success: z.object({ user }),
    errors: { 400: ['invalid_passkey'] },
  }),
  operation('POST /prove', {
    id: 'prove',
    summary: 'Prove again who you are',
    description:
      'Operations that change access respond with 403 `reauthentication_required` when the session’s last proof is more than 15 minutes old. A sign-in is a proof. People with a second factor send a code, a recovery code or a passkey, others their password.',
    body: z.strictObject({
      password: givenPassword.optional(),
      code: code.optional(),
      recoveryCode: recoveryCode.optional(),
      passkey: passkeyAssertion.optional(),
    }),
    success: done,
    needsSession: true,
    errors: { 400: ['invalid_password', 'invalid_code', 'invalid_passkey'] },
  }),
  operation('GET /second-factor', {
    id: 'readSecondFactor',
    summary: 'Read your second factor',
    success: z
      .object({
        confirmedAt: z.string().nullable().describe('When you added your second factor; null without one.'),
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
  }),
  operation('POST /second-factor/begin', {
    id: 'beginSecondFactor',
    summary: 'Begin to add a second factor',
    description:
      'Makes a secret for an authenticator (RFC 6238: SHA-1, six digits, 30 seconds). It has no effect until a code confirms it.',
    body: z.strictObject({}),
    success: z
      .object({
        secret: z.string().describe('The secret in base32, to type.'),
        uri: z.string().meta({ description: 'The secret as an address for a QR code.', example: 'otpauth://totp/…' }),
      })
      .meta({ id: 'BegunSecondFactor' }),
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 409: ['second_factor_exists'] },
  }),
  operation('POST /second-factor/confirm', {
    id: 'confirmSecondFactor',
    summary: 'Confirm a second factor by a code',
    description: 'Ends your other sessions. From then on signing in needs a code.',
    body: z.strictObject({ code }),
    success: recoveryCodes,
    needsSession: true,
    errors: { 400: ['invalid_code'], 403: ['reauthentication_required'] },
  }),
  operation('POST /second-factor/recovery-codes', {
    id: 'replaceRecoveryCodes',
    summary: 'Make new recovery codes',
    description: 'The earlier codes no longer work.',
    body: z.strictObject({}),
    success: recoveryCodes,
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 404: ['second_factor_not_found'] },
  }),
  operation('POST /second-factor/remove', {
    id: 'removeSecondFactor',
    summary: 'Remove your second factor',
    description: 'This removes your passkeys too.',
    body: z.strictObject({}),
    success: done,
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 404: ['second_factor_not_found'] },
  }),
  operation('POST /passkeys/begin', {
    id: 'beginPasskey',
    summary: 'Begin to add a passkey',
    description: 'Needs a second factor, whose recovery codes replace a lost passkey.',
    body: z.strictObject({}),
    success: passkeyOptions,
    needsSession: true,
    errors: { 403: ['reauthentication_required'], 404: ['second_factor_not_found'] },
  }),
  operation('POST /passkeys/add', {
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
  }),
  operation('POST /passkeys/remove', {
    id: 'removePasskey',
    summary: 'Remove a passkey',
    body: z.strictObject({ id: z.string().min(1).max(1_400) }),
    success: done,
    needsSession: true,
    errors: { 400: ['invalid_passkey'], 403: ['reauthentication_required'] },
  }),
];
