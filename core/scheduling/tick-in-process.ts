import { tick } from './tick.ts';
import { createTickParts, type TickDeps } from './tick-parts.ts';

/** The running tick of this process: a cron that calls faster than ticks end does not begin a second one. */
const underWay = new WeakMap<object, Promise<void>>();

/**
 * Begins the tick that the scheduler workflow makes each minute, in this process, and does not wait for its end.
 * @returns whether an earlier one is still running, in which case none is begun
 */
export function tickInProcess(deps: TickDeps): { alreadyRunning: boolean } {
  const alreadyRunning = underWay.has(deps);
  if (!alreadyRunning) {
    const ticking = tickOnce(deps).finally(() => underWay.delete(deps));
    underWay.set(deps, ticking);
  }
  return { alreadyRunning };
}

/** Resolves when the running tick, if any, has ended: for a graceful shutdown. */
export async function tickSettled(deps: object): Promise<void> {
  await underWay.get(deps);
}

async function tickOnce(deps: TickDeps): Promise<void> {
  try {
    await tick(deps);
    await createTickParts(deps).admission();
  } catch (err) {
    deps.log.error({ err }, 'a tick over HTTP failed');
  }
}
