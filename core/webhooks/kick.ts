import type { Engine, StartableDelivery } from '#core/engine/index.ts';
import type { Log } from '#lib/log.ts';

/**
 * Starts a delivery whose transaction has been committed. Never throws: when Temporal is away, a tick starts it.
 * @returns whether it was started
 */
export async function kickDelivery(
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
