import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowNotFoundError } from '@temporalio/common';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { Log } from '#lib/log.ts';
import { schedulerWorkflowId, WORKFLOW } from '#lib/temporal/index.ts';

export interface SchedulerSettings {
  readonly client: Client;
  readonly taskQueue: string;
  readonly log: Log;
  readonly workflowId?: string;
  /** The interval of the checks, by default one minute. */
  readonly everyMs?: number;
  /** Returns true when a new scheduler would start on the build of this worker. True by default. */
  readonly takesRuns?: () => boolean;
  /** Time without a step after which a scheduler counts as stuck, by default two minutes. */
  readonly stuckAfterMs?: number;
}

/**
 * Starts the scheduler, now and at intervals, if it is not running: an operator may terminate it, and the server may
 * lose it. Ends a stuck scheduler first. A scheduler is stuck when its build has no worker any more, or when new code
 * cannot continue it. A task queue has one scheduler, even if many processes start it.
 */
export async function keepScheduler(settings: SchedulerSettings): Promise<{ stop(): void }> {
  const { client, taskQueue, log, workflowId = schedulerWorkflowId(settings.taskQueue) } = settings;
  const ensure = async () => {
    await client.workflow.start(WORKFLOW.scheduler, {
      taskQueue,
      workflowId,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      staticSummary: 'ticks every minute',
      args: [],
    });
  };
  // The first check comes after an interval, because a scheduler needs time to continue after an outage.
  const check = async () => {
    if (settings.takesRuns?.() !== false) await endStuck(settings, workflowId);
    await ensure();
  };
  await ensure();
  const timer = setInterval(() => {
    check().catch((err: unknown) => log.warn({ err }, 'the scheduler could not be checked'));
  }, settings.everyMs ?? 60_000);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

const STUCK_AFTER_MS = 120_000;

/** Ends a scheduler whose next step has waited so long that no worker seems able to take it. No state is lost. */
async function endStuck(settings: SchedulerSettings, workflowId: string): Promise<void> {
  const { client, log, stuckAfterMs = STUCK_AFTER_MS } = settings;
  try {
    const { raw, runId } = await client.workflow.getHandle(workflowId).describe();
    const waitsSince = optionalTsToMs(raw.pendingWorkflowTask?.originalScheduledTime);
    if (waitsSince === undefined || Date.now() - waitsSince < stuckAfterMs) return;
    log.warn({ workflowId, waitsSince: new Date(waitsSince) }, 'the scheduler is stuck and starts again');
    await client.workflow.getHandle(workflowId, runId).terminate('it was stuck');
  } catch (err) {
    if (!(err instanceof WorkflowNotFoundError)) throw err;
  }
}
