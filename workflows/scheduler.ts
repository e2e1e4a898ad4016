import { continueAsNew, log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { SchedulingActivities } from '#activities/scheduling.ts';
import { schedulerTaskQueue } from '#lib/temporal/names.ts';
import { tickPolicy } from './policies.ts';

const MINUTE_MS = 60_000;

/** About twenty events a minute: well below the server's suggestion to continue as new at 4,096. */
const TICKS_PER_RUN = 120;

/**
 * Ticks at the start of every minute, for ever. A tick that fails is logged and the next one is its retry. Starting
 * queued runs goes on beside the ticks, because a backlog of thousands takes longer than a minute to start.
 */
export async function scheduler(): Promise<void> {
  const taskQueue = schedulerTaskQueue(workflowInfo().taskQueue);
  const { tick } = proxyActivities<SchedulingActivities>({
    ...tickPolicy,
    taskQueue,
    summary: 'tick',
  });
  const { dispatch } = proxyActivities<SchedulingActivities>({
    ...tickPolicy,
    taskQueue,
    startToCloseTimeout: '1h',
    summary: 'start queued runs',
  });
  let dispatching: Promise<void> | undefined;
  for (let ticks = 0; ticks < TICKS_PER_RUN && !workflowInfo().continueAsNewSuggested; ticks += 1) {
    await attempt('tick', tick);
    dispatching ??= attempt('dispatch', dispatch).finally(() => {
      dispatching = undefined;
    });
    await sleep(MINUTE_MS - (Date.now() % MINUTE_MS));
  }
  await dispatching;
  await continueAsNew<typeof scheduler>();
}

async function attempt(part: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch {
    log.warn('a part of the scheduler failed; the next minute is its retry', { part });
  }
}
