import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { PendingDelivery } from './delivery.ts';
import { AT_ONCE, START_LEASE } from './times.ts';

/**
 * Makes a delivery due now, whatever became of it, with the whole retry schedule before it; its attempts so far stay.
 * One that is being sent at this moment goes on, as the first attempt of the new schedule.
 * @returns the delivery to start
 * @throws {AppError} `run_not_found`, `delivery_not_found`
 */
export async function redeliver(
  db: Db,
  input: { projectId: string; runId: string; deliveryId: string },
): Promise<PendingDelivery> {
  const { projectId, runId, deliveryId } = input;
  const due = await row<PendingDelivery>(
    db,
    sql`
      update webhook_deliveries set
        state = case when ${isBeingSent} then state else 'pending' end,
        ladder_offset = case when ${isBeingSent} then attempt_count - 1 else attempt_count end,
        next_attempt_at = case when ${isBeingSent} then next_attempt_at else ${AT_ONCE} end,
        claimed_until = case when ${isBeingSent} then claimed_until else now() + ${START_LEASE} end,
        reason = null, finished_at = null
      where id = ${deliveryId} and run_id = ${runId} and project_id = ${projectId}
      returning id, attempt_count + 1 as attempt, project_id as "projectId"
    `,
  );
  if (due !== undefined) return due;
  const run = await row(
    db,
    sql`select 1 from runs where id = ${runId} and project_id = ${projectId}`,
  );
  throw new AppError(run === undefined ? 'run_not_found' : 'delivery_not_found');
}

const isBeingSent = sql`(state = 'sending' and claimed_until > now())`;
