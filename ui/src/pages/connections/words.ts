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
