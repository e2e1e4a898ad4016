import { AppError, type ErrorCode } from '#lib/errors.ts';

/**
 * Lists the reasons why a sign-in fails, in the service's own words. The words repeat nothing from a provider except
 * the address of its issuer.
 */
export const SIGN_IN_FAILURES = {
  provider_unavailable: ['provider_error', 'The provider could not be asked just now; try again in a moment.'],
  provider_refused: ['provider_error', 'The provider answered the sign-in with an error; start it again.'],
  not_checked: ['provider_error', 'The account could not be checked at the provider; nothing was stored. Start again.'],
  wrong_issuer: ['provider_error', 'The response comes from another authorization server.'],
  identity_not_verified: ['provider_error', 'The provider did not prove whose account it is; nothing was stored.'],
  scopes_missing: ['forbidden', 'You did not grant a required permission at the provider.'],
  denied: ['forbidden', 'Access was not granted at the provider.'],
  account_mismatch: ['account_mismatch', 'The connection belongs to another account.'],
  superseded: ['attempt_expired', 'The attempt was cancelled or replaced; start again.'],
  provider_changed: ['attempt_expired', 'The settings of the provider were changed during the sign-in; start again.'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export type SignInFailureReason = keyof typeof SIGN_IN_FAILURES;

export class SignInFailure extends AppError {
  readonly reason: SignInFailureReason;

  constructor(reason: SignInFailureReason, message: string = SIGN_IN_FAILURES[reason][1]) {
    super(SIGN_IN_FAILURES[reason][0], message);
    this.reason = reason;
  }
}
