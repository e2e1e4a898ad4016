import { markWebhookGone } from '#core/routines/index.ts';
import { execute, row, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import type { ClaimedAttempt } from './claim.ts';
import type { Exchange } from './delivery.ts';
import type { Verdict } from './retry.ts';

/**
 * Records the outcome of an attempt and moves its delivery, in one statement. An attempt that was overtaken, because
 * its lease had run out or a 410 stopped the delivery, is still recorded, but moves the delivery only if it succeeded.
 * @returns whether the delivery was moved
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
          status = ${exchange.status}, error = ${exchange.error}, duration_ms = ${exchange.durationMs},
          -- Unless the content of the run was erased while this was under way.
          response_excerpt = (select ${exchange.responseExcerpt}::text from webhook_deliveries d
            where d.id = ${attempt.deliveryId} and d.body is not null)
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

/** Reads the place of an attempt on the retry schedule as it is now; undefined when the attempt was overtaken. */
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
 * Records a 410: marks the routine's webhook as failed and gives up all of its open deliveries. Does nothing when the
 * routine has another URL by now, because the response says nothing about that one.
 * @returns whether the webhook was marked; when not, nothing was written
 */
export async function recordGone(
  database: Database,
  attempt: ClaimedAttempt,
  exchange: Exchange,
): Promise<boolean> {
  return transaction(database, async (tx) => {
    if (!(await markWebhookGone(tx, attempt))) return false;
    await recordAttempt(tx, attempt, exchange, { state: 'failed', reason: 'gone' });
    // Including those that are being sent right now: their attempts find the delivery over, unless they succeed.
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
