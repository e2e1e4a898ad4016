import { continueAsNew, log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { SchedulingActivities } from '#activities/scheduling.ts';
import { schedulerTaskQueue } from '#lib/temporal/names.ts';
import { tickPolicy } from './policies.ts';

export interface SchedulerInput {
  /** Ticks come at whole multiples of it; a minute unless given. */
  readonly intervalMs?: number;
  /**
   * Ticks until it continues as new, 120 unless given: at about twenty events each well below the server's
   * suggestion at 4,096 events.
   */
  readonly ticksPerRun?: number;
}

/**
 * Ticks at the start of every minute, for ever. A tick that fails is logged and the next one is its retry. Starting
 * queued runs goes on beside the ticks, because a backlog of thousands takes longer than a minute to start.
 */
export async function scheduler(input: SchedulerInput = {}): Promise<void> {
  const { intervalMs = 60_000, ticksPerRun = 120 } = input;
  const taskQueue = schedulerTaskQueue(workflowInfo().taskQueue);
  const { tick } = proxyActivities<SchedulingActivities>({
    ...tickPolicy,
    taskQueue,
    summary: 'tick',
  });
  const { dispatch } = proxyActivities<SchedulingActivities>({
    ...tickPolicy,
    taskQueue,
    startToCloseTimeout: '10m',
    summary: 'start queued runs',
  });
  let dispatching: Promise<void> | undefined;
  let ticks = 0;
  const isFresh = () => ticks < ticksPerRun && !workflowInfo().continueAsNewSuggested;
  // Ticks go on while the last dispatch ends, so that a long backlog never holds up the schedule.
  while (isFresh() || dispatching !== undefined) {
    await attempt('tick', tick);
    if (isFresh()) {
      dispatching ??= attempt('dispatch', dispatch).finally(() => {
        dispatching = undefined;
      });
    }
    ticks += 1;
    await sleep(intervalMs - (Date.now() % intervalMs));
  }
  await continueAsNew<typeof scheduler>(input);
}

async function attempt(part: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch {
    log.warn('a part of the scheduler failed; the next minute is its retry', { part });
  }
}
