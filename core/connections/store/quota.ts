import { sql, type Db } from '#lib/database/index.ts';
import { assertWithinQuota } from '#lib/quota.ts';

/** The most connections of a project. */
const MAX_CONNECTIONS = 1_000;

/** Refuses a new connection, before anybody is asked for it. @throws {AppError} `limit_reached` */
export function assertRoomForConnection(
  db: Db,
  { id, projectId }: { readonly id: string; readonly projectId: string },
): Promise<void> {
  return assertWithinQuota(db, {
    counted: sql`select from connections where project_id = ${projectId} and id <> ${id}`,
    max: MAX_CONNECTIONS,
    what: 'connections',
  });
}
