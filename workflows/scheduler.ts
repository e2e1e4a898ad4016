import type { Duration } from '@temporalio/common';
import { log, makeContinueAsNewFunc, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { SchedulingActivities } from '#activities/activities.ts';
import { schedulerTaskQueue } from '#lib/task-queues.ts';

export interface SchedulerInput {
  /** Interval of the ticks, by default one minute. Ticks begin at whole multiples of the interval. */
  readonly intervalMs?: number;
  /**
   * Ticks before the workflow continues as new, by default 120. A tick makes up to fifty events of history; at 4,096
   * events the server suggests continuing as new earlier.
   */
  readonly ticksPerRun?: number;
}

/**
 * Ticks at the start of every minute, for ever: claims due routines, and starts the other parts of a tick at the same
 * time, so that none delays the schedule. A part that fails is logged and retried in the next minute; a part that still
 * runs continues.
 */
export async function scheduler(input: SchedulerInput = {}): Promise<void> {
  const { intervalMs = 60_000, ticksPerRun = 120 } = input;
  const first = activity('claimDue', 'claim');
  const others = [
    // Allow ten minutes, because a backlog of thousands takes longer than a minute to start.
    activity('dispatch', 'start queued runs', '10m'),
    activity('startDeliveries', 'deliveries'),
    activity('expireQueued', 'expire'),
    activity('sweepRuns', 'sweep'),
    activity('keepHouse', 'housekeeping'),
    activity('refreshCatalogues', 'catalogues'),
    activity('applyRetention', 'retention'),
    activity('syncPayments', 'payments'),
    activity('sendMessages', 'messages'),
  ];
  const underWay = new Map<string, Promise<void>>();
  let ticks = 0;
  const isFresh = () => {
    const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
    return ticks < ticksPerRun && !continueAsNewSuggested && !targetWorkerDeploymentVersionChanged;
  };
  // Claims continue while the other parts end, so that a long backlog never delays the schedule.
  while (isFresh() || underWay.size > 0) {
    await attempt(first);
    if (isFresh()) {
      for (const part of others) {
        if (underWay.has(part.name)) continue;
        underWay.set(
          part.name,
          attempt(part).finally(() => underWay.delete(part.name)),
        );
      }
    }
    ticks += 1;
    await sleep(intervalMs - (Date.now() % intervalMs));
  }
  await makeContinueAsNewFunc<typeof scheduler>(ON_THE_CURRENT_BUILD)(input);
}

/**
 * A scheduler stays on its build, like a run, but never ends. It moves to the current build when it continues as new,
 * at the first tick after another build became current.
 */
const ON_THE_CURRENT_BUILD = { initialVersioningBehavior: 'AUTO_UPGRADE' } as const;

interface Part {
  readonly name: string;
  readonly work: () => Promise<unknown>;
}

/** Makes a part of a tick. Its activity is not retried: the next minute is the retry. */
function activity(name: keyof SchedulingActivities, summary: string, limit: Duration = '5m'): Part {
  const activities = proxyActivities<SchedulingActivities>({
    taskQueue: schedulerTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: limit,
    scheduleToStartTimeout: '1m',
    heartbeatTimeout: '10s',
    retry: { maximumAttempts: 1 },
    summary,
  });
  return { name, work: activities[name] };
}

async function attempt({ name, work }: Part): Promise<void> {
  try {
    await work();
  } catch {
    log.warn('a part of the scheduler failed; the next minute is its retry', { part: name });
  }
}
