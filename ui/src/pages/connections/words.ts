import type { Shape } from '#ui/api/types.ts';

type Connection = Shape<'Connection'>;

const AUTHS: Readonly<Record<Connection['auth'], string>> = {
  none: 'No credentials',
  bearer: 'Bearer token',
  headers: 'Headers',
  oauth: 'Sign-in',
  api_key: 'API key',
};

/** Names how requests of a connection are authenticated. */
export function authText(auth: Connection['auth']): string {
  return AUTHS[auth];
}

const CATEGORIES: Readonly<Record<Shape<'ConnectionProvider'>['category'], string>> = {
  analytics: 'Analytics',
  seo: 'Search',
  crm: 'CRM',
  content: 'Content',
  communication: 'Communication',
  development: 'Development',
  planning: 'Planning',
  payments: 'Payments',
};

export function categoryText(category: Shape<'ConnectionProvider'>['category']): string {
  return CATEGORIES[category];
}

const RETURNS: Readonly<Record<string, string>> = {
  attempt_expired: 'The sign-in took too long, or was used already. Begin again.',
  forbidden: 'The sign-in was begun in another session. Begin again in this one.',
  account_mismatch: 'That was another account. Sign in with the one that was connected.',
  connection_not_found: 'The connection has been deleted meanwhile.',
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
