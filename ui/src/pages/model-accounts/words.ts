import type { Shape } from '#ui/api/types.ts';

type Provider = Shape<'ModelProvider'>;

const QUOTAS: Readonly<Record<NonNullable<Provider['billing']>, string>> = {
  managed: 'Paid by the operator, within the allowance of your plan here.',
  subscription: 'Draws on the allowance of your own subscription there.',
  usage: 'Charged to your own account there, by use.',
};

/** Says whose quota runs use, and who pays. */
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

/** Says how an account is connected, or in two words why none can be; the reason in full is the API's. */
export function badgeText({ authType, enabled, viewer }: Provider): string {
  if (enabled) return WAYS[authType];
  return viewer.reason?.code === 'provider_mismatch' ? 'Files differ' : 'Switched off';
}
