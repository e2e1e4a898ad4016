import type { Log } from '#lib/log.ts';
import type { PendingDelivery } from './delivery.ts';

/** Starts the workflow that makes the next attempt. */
export interface DeliveryStarter {
  startDelivery(delivery: PendingDelivery): Promise<void>;
}

/**
 * Starts a delivery as soon as its transaction has been committed. Never throws: when Temporal is away, a tick will
 * start it.
 * @returns whether it was started
 */
export async function kickDelivery(
  engine: DeliveryStarter,
  delivery: PendingDelivery,
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
