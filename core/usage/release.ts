import { execute, rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import type { Attempt } from './attempt.ts';
import { addToTotals } from './totals.ts';

/** Reservations released in one statement; whoever asks next goes on. */
const BATCH = 500;

/** Releases what an attempt has reserved: its call has returned without a response that could be settled. */
export async function releaseAttempt(db: Db, attempt: Attempt): Promise<void> {
  const { runId, index } = attempt;
  await execute(
    db,
    release(sql`
      select run_id, step_index, attempt from usage_reservations
      where run_id = ${runId} and step_index = ${index} and attempt = ${attempt.attempt}
    `),
  );
}

/**
 * Releases reservations whose lease has run out: the process that made them died before it could settle them, and its
 * call cannot be under way any more.
 * @returns whether any was released
 */
export async function releaseExpired(db: Db): Promise<boolean> {
  const released = await rows(
    db,
    release(sql`
      select run_id, step_index, attempt from usage_reservations
      where leased_until <= now() order by leased_until limit ${BATCH}
      for update skip locked
    `),
  );
  return released.length > 0;
}

function release(chosen: Sql): Sql {
  return sql`
      with chosen as materialized (
        ${chosen}
      ), released as (
        delete from usage_reservations r using chosen c
        where r.run_id = c.run_id and r.step_index = c.step_index and r.attempt = c.attempt
        returning r.scope_ids, r.tokens, r.cost_usd
      )
      ${addToTotals(sql`(
        select scope_id, 0::bigint as tokens, 0::numeric as cost_usd, -sum(released.tokens) as reserved_tokens,
          -sum(released.cost_usd) as reserved_cost_usd
        from released, unnest(scope_ids) as scope_id
        group by scope_id
      )`)}
    `;
}
