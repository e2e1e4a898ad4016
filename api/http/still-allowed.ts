import { stillStands } from '#core/identity/index.ts';
import { persistently } from '#lib/database/index.ts';
import type { AccessOf, AuthKind } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { RouteSpec } from '../route.ts';

/**
 * Tells whether a caller who was let in would be let in again, without counting a request. While Postgres is away it
 * waits, until `signal` aborts.
 */
export function isStillAllowed(
  access: AccessOf<AuthKind>,
  { scope }: RouteSpec,
  { database }: Pick<Deps, 'database'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (access === undefined || !('actor' in access)) {
    throw new Error('only streams of a project are served');
  }
  const { actor, projectId } = access;
  const standing = { ...actor, projectId, scope };
  return persistently(() => stillStands(database, standing), signal);
}
