import { execute, sql, type Db } from '#lib/database/index.ts';
import type { OptOut } from './unsubscribe-links.ts';

/** Sends the person no more mail about the scope. Does nothing when the person is gone. */
export async function optOut(db: Db, { userId, scopeId }: OptOut): Promise<void> {
  await execute(
    db,
    sql`
      insert into mail_optouts (user_id, scope_id) select id, ${scopeId} from users where id = ${userId}
      on conflict do nothing
    `,
  );
}

/** Takes an opt-out back. */
export async function optIn(db: Db, { userId, scopeId }: OptOut): Promise<void> {
  await execute(
    db,
    sql`delete from mail_optouts where user_id = ${userId} and scope_id = ${scopeId}`,
  );
}
