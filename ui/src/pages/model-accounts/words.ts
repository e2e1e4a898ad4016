import type { Shape } from '#ui/api/types.ts';

type Provider = Shape<'ModelProvider'>;

const QUOTAS: Readonly<Record<NonNullable<Provider['billing']>, string>> = {
  managed: 'Paid by the operator, within the allowance of your plan here.',
  subscription: 'Draws on the allowance of your own subscription there.',
  usage: 'Charged to your own account there, by use.',
};

/** Says whose quota runs draw on, and who pays. */
export function quotaText({ billing }: Provider): string {
  return billing === null ? 'Who pays is not known while it is switched off.' : QUOTAS[billing];
}

const USES: Readonly<Record<NonNullable<Provider['terms']>['thirdPartyUse'], string>> = {
  allowed: 'Its terms allow use by a service like this one.',
  by_agreement: 'Its terms allow use by a service only by agreement with the provider.',
  forbidden: 'Its terms forbid use by a service. Connecting may cost you the account.',
};

export function termsText({ thirdPartyUse }: NonNullable<Provider['terms']>): string {
  return USES[thirdPartyUse];
}

const WAYS: Readonly<Record<Provider['authType'], string>> = {
  managed: 'Nothing to connect',
  device_code: 'By device code',
  oauth: 'By signing in',
  api_key: 'By API key',
};

export function wayText({ authType }: Provider): string {
  return WAYS[authType];
}

const RETURNS: Readonly<Record<string, string>> = {
  attempt_expired: 'The sign-in took too long, or was used already. Begin again.',
  forbidden: 'The sign-in was begun in another session. Begin again in this one.',
  account_mismatch: 'That was another account. Sign in with the one that was connected.',
  provider_disabled: 'The operator has switched this provider off.',
  provider_error: 'The provider refused the sign-in, or could not be reached. Try again.',
  owner_required: 'Only the owner of the account can sign in to it again.',
  runtime_unavailable: 'The account could not be tried just now. Try again in a few minutes.',
  api_unreachable: 'The service could not be reached when you came back. Begin again.',
};

/** Says in a sentence why a sign-in came to nothing, by the code with which the browser came back. */
export function returnedText(code: string): string {
  return RETURNS[code] ?? `The sign-in could not be completed (${code.replaceAll('_', ' ')}).`;
}
