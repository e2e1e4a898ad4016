import { NOTHING_CLAIMED, type ClaimReport } from './claim.ts';
import { attemptParts, createTickParts, type TickDeps } from './tick-parts.ts';

export interface TickReport extends ClaimReport {
  readonly deliveries: number;
  readonly settled: number;
}

/** Time limits of the long parts, because the later parts of a tick wait for them. */
const MESSAGES_MS = 10_000;
const RETENTION_MS = 4_000;

/**
 * Makes one tick: all parts in order. Ticks may overlap, in one process or many. The other parts continue after an
 * error; the first error is thrown at the end.
 */
export function tick(deps: TickDeps, signal: AbortSignal = new AbortController().signal): Promise<TickReport> {
  const parts = createTickParts(deps);
  return attemptParts(deps.log, async (attempt) => {
    const claimed = await attempt('claim', () => parts.claim(signal), NOTHING_CLAIMED);
    const deliveries = await attempt('deliveries', () => parts.deliveries(signal), 0);
    await attempt('expire', () => parts.expire(signal), 0);
    const settled = await attempt('sweep', () => parts.sweep(signal), 0);
    await attempt('payments', () => parts.payments(signal), undefined);
    await attempt('messages', () => parts.messages(signal, MESSAGES_MS), 0);
    await attempt('catalogues', () => parts.catalogues(signal), 0);
    await attempt('housekeeping', () => parts.housekeeping(signal), undefined);
    await attempt('retention', () => parts.retention(signal, RETENTION_MS), undefined);
    return { ...claimed, deliveries, settled };
  });
}

/** The running tick of this process. A cron that calls before the tick has ended begins no second tick. */
const underWay = new WeakMap<object, Promise<void>>();

/** Begins a tick in this process, unless an earlier tick is still running, and does not wait for its end. */
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
