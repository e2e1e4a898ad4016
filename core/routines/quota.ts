import { sql, type Db } from '#lib/database/index.ts';
import { assertWithinKeptQuota } from '#lib/quota.ts';

/**
 * The most routines of a project that are not archived, five times as many as any plan keeps active, and the most that
 * it ever has: archived ones are kept.
 */
const MAX_ROUTINES = 5_000;
const MAX_EVER = 50_000;

/** Refuses a further routine. @throws {AppError} `limit_reached` */
export async function assertRoomForRoutine(
  db: Db,
  { id, projectId }: { readonly id: string; readonly projectId: string },
): Promise<void> {
  await assertWithinKeptQuota(db, {
    all: sql`select from routines where project_id = ${projectId} and id <> ${id}`,
    ever: { max: MAX_EVER, what: 'routines, archived ones included' },
    live: {
      where: sql`state <> 'archived'`,
      max: MAX_ROUTINES,
      what: 'routines that are not archived',
    },
  });
}
