import { execute, row, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import type { ClaimedAttempt } from './claim.ts';
import type { Exchange } from './send.ts';
import type { Verdict } from './verdict.ts';

/**
 * Records what came of an attempt and what it means for the delivery, in one statement. An attempt that was overtaken,
 * because its lease had run out or a 410 stopped the delivery, still gets its record; the delivery follows it only
 * when it succeeded.
 * @returns whether the delivery followed
 */
export async function recordAttempt(
  db: Db,
  attempt: ClaimedAttempt,
  exchange: Exchange,
  verdict: Verdict,
): Promise<boolean> {
  const delayMs = verdict.state === 'pending' ? verdict.delayMs : null;
  const reason = verdict.state === 'failed' ? verdict.reason : null;
  const uncounted = verdict.state === 'pending' && !verdict.counts ? 1 : 0;
  const current =
    verdict.state === 'delivered'
      ? sql`state <> 'delivered'`
      : sql`
          state = 'sending' and attempt_count = ${attempt.index}
          and attempt_count - ladder_offset = ${attempt.rung}
        `;
  const settled = await execute(
    db,
    sql`
      with attempt as (
        update webhook_attempts set
          status = ${exchange.status}, error = ${exchange.error}, response_excerpt = ${exchange.responseExcerpt},
          duration_ms = ${exchange.durationMs}
        where delivery_id = ${attempt.deliveryId} and index = ${attempt.index}
      )
      update webhook_deliveries set
        state = ${verdict.state}, reason = ${reason},
        next_attempt_at = now() + ${delayMs}::float8 * interval '1 millisecond',
        claimed_until = null,
        finished_at = case when ${verdict.state}::text <> 'pending' then now() end,
        ladder_offset = ladder_offset + ${uncounted}
      where id = ${attempt.deliveryId} and ${current}
    `,
  );
  return settled > 0;
}

/** The place of an attempt under way on the retry schedule as it is now; undefined when it was overtaken. */
export async function currentRung(db: Db, attempt: ClaimedAttempt): Promise<number | undefined> {
  const found = await row<{ rung: number }>(
    db,
    sql`
      select attempt_count - ladder_offset as rung from webhook_deliveries
      where id = ${attempt.deliveryId} and state = 'sending' and attempt_count = ${attempt.index}
    `,
  );
  return found?.rung;
}

/**
 * Records a 410: the routine's webhook is marked failed, and this delivery and all others of the routine that are still
 * open are given up. Unless the routine has another URL by now, about which the answer says nothing.
 * @returns whether the webhook was marked; when not, nothing was written
 */
export async function recordGone(
  database: Database,
  attempt: ClaimedAttempt,
  exchange: Exchange,
): Promise<boolean> {
  return transaction(database, async (tx) => {
    const marked = await execute(
      tx,
      sql`
        update routines set
          webhook_failed_at = coalesce(webhook_failed_at, now()),
          version = version + case when webhook_failed_at is null then 1 else 0 end
        where id = ${attempt.routineId} and project_id = ${attempt.projectId} and webhook_url = ${attempt.webhookUrl}
      `,
    );
    if (marked === 0) return false;
    await recordAttempt(tx, attempt, exchange, { state: 'failed', reason: 'gone' });
    // Those being sent right now as well: their attempts will find the delivery over, unless they succeed.
    await execute(
      tx,
      sql`
        update webhook_deliveries set
          state = 'failed', reason = 'gone', next_attempt_at = null, finished_at = now()
        where routine_id = ${attempt.routineId} and state in ('pending', 'sending')
      `,
    );
    return true;
  });
}
