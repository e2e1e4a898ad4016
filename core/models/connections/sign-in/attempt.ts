import { z } from 'zod';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { SignInFailureReason } from './failure.ts';

export const ATTEMPT_STATES = ['pending', 'succeeded', 'denied', 'expired', 'cancelled', 'failed'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** The person who signs in, the project, and the provider. */
export interface AttemptOwner {
  readonly projectId: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** Tokens that await verification, and their account. */
const granted = z.strictObject({
  kind: z.literal('granted'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  clientId: z.string(),
  /** Expiry of the tokens in Unix milliseconds; null if the provider does not say. */
  expiresAt: z.number().nullable(),
  accountId: z.string().nullable(),
  accountLabel: z.string().nullable(),
  accountHeader: z.string().nullable(),
});
export type Granted = z.output<typeof granted>;

/** Secrets of an attempt; sealed while the attempt is pending. */
export const attemptSecrets = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('device'),
    deviceCode: z.string(),
    userCode: z.string(),
    verificationUri: z.string(),
    verificationUriComplete: z.string().nullable(),
  }),
  z.strictObject({
    kind: z.literal('oauth'),
    verifier: z.string(),
    nonce: z.string(),
    redirectUri: z.string(),
  }),
  granted,
]);
export type AttemptSecrets = z.output<typeof attemptSecrets>;

export interface SignInAttempt extends AttemptOwner {
  readonly id: string;
  readonly provider: ProviderSlot;
  readonly fileHash: string;
  /** The connection of a repeated sign-in; after a success, the new or renewed connection. */
  readonly connectionId: string | null;
  readonly state: AttemptState;
  readonly error: SignInFailureReason | null;
  /** The sealed secrets; null once the attempt has ended. */
  readonly sealed: string | null;
  readonly intervalSeconds: number | null;
  readonly nextPollAt: Date | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}
