import { deleteBatch, execute, rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import { LONGEST_PAUSE_SECONDS, type OpenBreaker } from './rule.ts';

/** Returns an SQL expression that is true when the breaker of an account is open. */
export function breakerIsOpen(account: Sql): Sql {
  return sql`exists (
    select from model_breakers b where b.account = ${account} and b.pause_until is not null
  )`;
}

/** Number of open breakers, as an SQL expression. */
export const openBreakers = sql`(select count(*) from model_breakers where pause_until is not null)`;

/**
 * Locks the open breakers of these accounts, always in the same order so that ticks cannot deadlock. Of two concurrent
 * ticks the second sees the probe that the first has taken.
 */
export function lockOpenBreakers(tx: Db, accounts: readonly string[]): Promise<OpenBreaker[]> {
  return rows<OpenBreaker>(
    tx,
    sql`
      select account, pause_until <= now() as "probeDue", pause_until as "pauseUntil" from model_breakers
      where account = any(${accounts}) and pause_until is not null
      order by account for update
    `,
  );
}

/**
 * Begins the next pause of breakers whose probe has been sent; if the probe is lost, another follows after the pause.
 * The pause is as long as the last one, but not as long as the wait for an allowance.
 */
export async function takeProbes(tx: Db, accounts: readonly string[]): Promise<void> {
  if (accounts.length === 0) return;
  await execute(
    tx,
    sql`
      update model_breakers set pause_from = now(), 
        pause_until = now() + least(pause_until - pause_from, ${LONGEST_PAUSE_SECONDS} * interval '1 second')
      where account = any(${accounts})
    `,
  );
}

/** Deletes breakers of accounts that nobody has used for a day, `limit` at most; returns how many. */
export function forgetBreakers(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'model_breakers',
    where: sql`greatest(failed_at, pause_until) < now() - interval '24 hours'`,
    limit,
  });
}
