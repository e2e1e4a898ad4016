import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowNotFoundError } from '@temporalio/common';
import type { Log } from '#lib/log.ts';
import { SCHEDULER_WORKFLOW_ID, schedulerWorkflowId, WORKFLOW } from '#lib/temporal/index.ts';

export interface SchedulerSettings {
  readonly client: Client;
  readonly taskQueue: string;
  readonly log: Log;
  readonly workflowId?: string;
  /** The interval of the checks, by default one minute. */
  readonly everyMs?: number;
}

/**
 * Starts the scheduler unless it is running, now and at intervals for as long as this process works: somebody may
 * terminate it, or the server may lose it. However many processes do this, a task queue has one
 * scheduler.
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
    if (workflowId !== SCHEDULER_WORKFLOW_ID) await retireFormer(client, taskQueue);
  };
  await ensure();
  const timer = setInterval(() => {
    ensure().catch((err: unknown) => log.warn({ err }, 'the scheduler could not be checked'));
  }, settings.everyMs ?? 60_000);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Ends the scheduler that an earlier version started for this task queue under the id that all queues shared. A process
 * of that version may start it again, so this is repeated.
 */
async function retireFormer(client: Client, taskQueue: string): Promise<void> {
  const former = client.workflow.getHandle(SCHEDULER_WORKFLOW_ID);
  try {
    const { runId, status, taskQueue: served } = await former.describe();
    if (status.name !== 'RUNNING' || served !== taskQueue) return;
    await client.workflow
      .getHandle(SCHEDULER_WORKFLOW_ID, runId)
      .terminate('each task queue has a scheduler of its own');
  } catch (err) {
    if (!(err instanceof WorkflowNotFoundError)) throw err;
  }
}
