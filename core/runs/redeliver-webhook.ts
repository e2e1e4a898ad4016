import type { Engine } from '#core/engine/index.ts';
import { kickDeliveries, redeliver } from '#core/webhooks/index.ts';
import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Admission } from './admission/admission.ts';
import { readRunDetail } from './queries.ts';
import type { RunDetail } from './run.ts';

export interface RedeliverDeps {
  readonly database: Database;
  readonly engine: Pick<Engine, 'startDelivery'>;
  readonly admission: Pick<Admission, 'rule'>;
  readonly log: Log;
}

/**
 * Sends a webhook delivery of a run again.
 * @returns the run, with the delivery pending
 * @throws {AppError} `run_not_found`, `delivery_not_found`, `content_erased`
 */
export async function redeliverWebhook(
  deps: RedeliverDeps,
  input: { projectId: string; runId: string; deliveryId: string },
): Promise<RunDetail> {
  await redeliver(deps.database, input);
  await kickDeliveries(deps);
  return readRunDetail(deps, input.projectId, input.runId);
}
