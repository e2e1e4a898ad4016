import type { RouteSpec } from '../route.ts';

/** Tells whether a caller selects a project. */
export function hasProject({ auth }: RouteSpec): boolean {
  return auth.endsWith('session') && auth !== 'session';
}

/** Tells whether the caller is a person or a key, with a rate limit of its own. */
export function isSignedIn({ auth }: RouteSpec): boolean {
  return auth.endsWith('session') || auth === 'returning-owner';
}

/** Returns the ways in which a caller of the operation may authenticate. */
export function securityOf(spec: RouteSpec) {
  switch (spec.auth) {
    case 'none':
      return [];
    case 'ui-origin':
      return [{ uiOrigin: [] }];
    case 'stripe-signature':
      return [{ stripeSignature: [] }];
    case 'scheduler-secret':
      return [{ schedulerSecret: [] }];
    case 'key-or-session':
      return [{ apiKey: spec.scope === undefined ? [] : [spec.scope] }, { session: [] }];
    case 'owner-session':
    case 'returning-owner':
      return [{ session: spec.scope === undefined ? [] : [spec.scope] }];
    default:
      return [{ session: [] }];
  }
}

/** Says which callers may use the operation, beyond its security schemes. */
export function scopeNote(spec: RouteSpec): string {
  if (spec.auth === 'owner-session' || spec.auth === 'returning-owner') {
    return 'Only the browser session of the account’s owner may call this; an API key cannot act as the owner.';
  }
  return spec.scope === undefined ? '' : `API keys need the scope \`${spec.scope}\`.`;
}
