import { sql, type Db } from '#lib/database/index.ts';
import { assertWithinQuota } from '#lib/quota.ts';

/** The most accounts of a project that are not revoked. */
const MAX_ACCOUNTS = 1_000;

/** Refuses a further account, before anybody signs in to it. @throws {AppError} `limit_reached` */
export function assertRoomForAccount(db: Db, projectId: string): Promise<void> {
  return assertWithinQuota(db, {
    counted: sql`select from model_connections where project_id = ${projectId} and state <> 'revoked'`,
    max: MAX_ACCOUNTS,
    what: 'model accounts',
  });
}
