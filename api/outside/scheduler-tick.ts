import { z } from 'zod';
import { dispatchQueuedRuns, tick } from '#core/scheduling/index.ts';
import type { Deps } from '../deps.ts';
import { route } from '../route.ts';

const DISPATCH_MS = 50_000;

/** The tick under way in this process: a cron that calls faster than ticks end gets 202 and no second one. */
const underWay = new WeakMap<Deps, Promise<void>>();

export const schedulerTick = route({
  method: 'POST',
  path: '/internal/scheduler/tick',
  id: 'schedulerTick',
  tag: 'Operations',
  summary: 'Tick the scheduler from outside',
  description:
    'The same tick that the scheduler workflow makes each minute, in this process, for an external cron as a fallback. Ticks may overlap. The answer does not wait for the tick to end.',
  auth: 'scheduler-secret',
  success: {
    status: 202,
    data: z
      .strictObject({ accepted: z.literal(true), alreadyRunning: z.boolean() })
      .meta({ id: 'TickAccepted' }),
    description: 'The tick has begun, or the one before is still going on.',
  },
  errors: ['invalid_signature', 'scheduler_unavailable'],
}).to(async ({ deps }) => {
  const alreadyRunning = underWay.has(deps);
  if (!alreadyRunning) {
    const ticking = tickOnce(deps).finally(() => underWay.delete(deps));
    underWay.set(deps, ticking);
  }
  return { data: { accepted: true, alreadyRunning } };
});

/** Resolves when the tick under way, if any, has ended: for a graceful shutdown. */
export async function tickSettled(deps: Deps): Promise<void> {
  await underWay.get(deps);
}

async function tickOnce(deps: Deps): Promise<void> {
  try {
    await tick(deps);
    await dispatchQueuedRuns(deps, AbortSignal.timeout(DISPATCH_MS));
  } catch (err) {
    deps.log.error({ err }, 'a tick over HTTP failed');
  }
}
