import type { StartableDelivery } from '#core/engine/index.ts';
import { AT_ONCE, row, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/**
 * Makes a delivery due now, whatever its state, with a whole new retry schedule; its attempts so far stay on record. An
 * attempt that is under way goes on as the first of the new schedule. The caller calls `kickDeliveries`.
 * @returns the delivery
 * @throws {AppError} `run_not_found`, `delivery_not_found`, `content_erased` when its body is gone
 */
export async function redeliver(
  db: Db,
  input: { projectId: string; runId: string; deliveryId: string },
): Promise<StartableDelivery> {
  const { projectId, runId, deliveryId } = input;
  const due = await row<StartableDelivery>(
    db,
    sql`
      update webhook_deliveries set
        state = case when ${isBeingSent} then state else 'pending' end,
        ladder_offset = case when ${isBeingSent} then attempt_count - 1 else attempt_count end,
        next_attempt_at = case when ${isBeingSent} then next_attempt_at else ${AT_ONCE} end,
        claimed_until = case when ${isBeingSent} then claimed_until end,
        reason = null, finished_at = null
      where id = ${deliveryId} and run_id = ${runId} and project_id = ${projectId} and body is not null
      returning id, attempt_count + 1 as attempt, project_id as "projectId"
    `,
  );
  if (due !== undefined) return due;
  const run = await row<{ hasDelivery: boolean }>(
    db,
    sql`
      select exists (select from webhook_deliveries d where d.id = ${deliveryId} and d.run_id = runs.id)
        as "hasDelivery"
      from runs where id = ${runId} and project_id = ${projectId}
    `,
  );
  if (run === undefined) throw new AppError('run_not_found');
  throw new AppError(run.hasDelivery ? 'content_erased' : 'delivery_not_found');
}

const isBeingSent = sql`(state = 'sending' and claimed_until > now())`;
