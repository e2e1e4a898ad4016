import { stringify } from 'yaml';
import type { Protocol, ProviderSlot } from '#lib/provider-file/index.ts';

interface FileOptions {
  readonly slot: ProviderSlot;
  readonly baseUrl: string;
  readonly protocol: Protocol;
  /** Issuer of the fixture authorization server, which slots A and B need. */
  readonly issuer?: string;
  /** Further fields of `auth`; undefined removes one. */
  readonly auth?: Readonly<Record<string, unknown>>;
  /** Further fields of `api`. */
  readonly api?: Readonly<Record<string, unknown>>;
}

/** Returns the text of a provider file for a fixture provider. */
export function fixtureProviderFile(options: FileOptions): string {
  const { slot, baseUrl, protocol } = options;
  return stringify({
    name: `Fixture ${slot}`,
    documentation: 'https://example.com/fixture-provider',
    terms: { page: 'https://example.com/terms', thirdPartyUse: 'allowed' },
    billing: slot === 'provider-c' ? 'usage' : 'subscription',
    auth: authOf(options),
    api: {
      baseUrl,
      protocol,
      ...(protocol === 'anthropic-messages' ? { headers: { 'anthropic-version': '2023-06-01' } } : {}),
      ...options.api,
    },
    verify: { path: '/key' },
    models: {
      path: '/models',
      list: 'data',
      id: 'id',
      name: 'display_name',
      contextTokens: 'context',
      keep: { path: 'chat', equals: true },
      page: { parameter: 'after_id', cursor: 'last_id', more: 'has_more' },
    },
    limits: {
      errors: ['usage_limit_reached'],
      resetAt: 'error.resets_at',
      resetInSeconds: 'error.resets_in_seconds',
    },
  });
}

function authOf({ slot, protocol, issuer, auth = {} }: FileOptions): object {
  if (slot === 'provider-c') {
    const header = protocol === 'anthropic-messages' ? { header: 'x-api-key', scheme: '' } : { scheme: 'Bearer' };
    return { kind: 'api_key', keyPage: 'https://example.com/keys', ...header, ...auth };
  }
  const kind = slot === 'provider-a' ? 'device_code' : 'oauth';
  const scopes = ['openid', 'email', 'offline_access'];
  return { kind, issuer, scopes, accountLabelClaim: 'email', ...auth };
}
