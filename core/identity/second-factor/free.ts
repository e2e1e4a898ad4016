import { SYSTEM } from '#core/audit/index.ts';
import { execute, row, sql, type Db } from '#lib/database/index.ts';
import { removeSecondFactor } from './store.ts';
import { recordFactorEvent } from './told.ts';

/**
 * Removes the second factor of a person who has lost it with the recovery codes, and ends their sessions. The operator
 * has made sure who asks.
 * @returns whether there was one; undefined where nobody has this address
 */
export async function freeAccount(tx: Db, email: string): Promise<boolean | undefined> {
  const user = await row<{ id: string }>(
    tx,
    sql`select id from users where email = ${email.toLowerCase()} for update`,
  );
  if (user === undefined) return undefined;
  const removed = await removeSecondFactor(tx, user.id);
  if (removed) {
    const event = { action: 'member.second_factor_removed', userId: user.id } as const;
    await recordFactorEvent(tx, SYSTEM, event);
    await execute(tx, sql`delete from sessions where user_id = ${user.id}`);
  }
  return removed;
}
