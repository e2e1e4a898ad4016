import { sql, type Db } from '#lib/database/index.ts';
import { assertWithinKeptQuota } from '#lib/quota.ts';

/** The most accounts of a project that are not revoked, and the most that it ever has: revoked ones are kept. */
const MAX_ACCOUNTS = 1_000;
const MAX_EVER = 10_000;

/** Refuses a further account, before anybody signs in to it. @throws {AppError} `limit_reached` */
export async function assertRoomForAccount(db: Db, projectId: string): Promise<void> {
  await assertWithinKeptQuota(db, {
    all: sql`select from model_connections where project_id = ${projectId}`,
    ever: { max: MAX_EVER, what: 'model accounts, revoked ones included' },
    live: { where: sql`state <> 'revoked'`, max: MAX_ACCOUNTS, what: 'model accounts' },
  });
}
