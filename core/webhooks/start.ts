import type { Engine, StartableDelivery } from '#core/engine/index.ts';
import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { anyDue, claimDueDeliveries } from './due.ts';

export interface StartDeliveriesDeps {
  readonly database: Database;
  readonly engine: Pick<Engine, 'startDelivery'>;
  /** Names the workers by whose slots the deliveries are bounded. */
  readonly admission: { readonly rule: { readonly taskQueue: string } };
  readonly log: Log;
}

/** Deliveries claimed in one round: few enough to start well within their lease. */
const BATCH = 50;

/**
 * Starts deliveries that are due, as far as there is room for them: after the commit of what queued them, after each
 * attempt, since it has made room, and in every tick.
 * @returns how many were started
 * @throws when Postgres cannot be reached, or the signal's reason
 */
export async function startDueDeliveries(
  { database, engine, admission, log }: StartDeliveriesDeps,
  { signal, withinMs = 0 }: { signal?: AbortSignal; withinMs?: number } = {},
): Promise<number> {
  const end = performance.now() + withinMs;
  let started = 0;
  for (;;) {
    signal?.throwIfAborted();
    const due = await claimDueDeliveries(database, admission.rule.taskQueue, BATCH);
    for (const delivery of due) {
      signal?.throwIfAborted();
      // While Temporal is away each start would wait for its deadline. The leases run out and a later tick goes on.
      if (!(await startDelivery(engine, delivery, log))) return started;
      started += 1;
    }
    // Claimed deliveries are leased, so no batch repeats an earlier one.
    if (due.length < BATCH || performance.now() > end) return started;
  }
}

/** Does the same where a failure must not matter: it is logged, and the next tick is its retry. */
export async function kickDeliveries(deps: StartDeliveriesDeps): Promise<void> {
  try {
    if (await anyDue(deps.database)) await startDueDeliveries(deps);
  } catch (err) {
    deps.log.warn({ err }, 'webhook deliveries not started; a tick will do it');
  }
}

async function startDelivery(
  engine: Pick<Engine, 'startDelivery'>,
  delivery: StartableDelivery,
  log: Log,
): Promise<boolean> {
  try {
    await engine.startDelivery(delivery);
    return true;
  } catch (err) {
    const { id, projectId } = delivery;
    log.warn({ err, deliveryId: id, projectId }, 'webhook delivery not started; a tick will do it');
    return false;
  }
}
