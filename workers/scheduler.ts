import { WorkflowIdConflictPolicy } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import type { Log } from '#lib/log.ts';
import { SCHEDULER_WORKFLOW_ID, WORKFLOW } from '#lib/temporal/index.ts';

export interface SchedulerSettings {
  readonly client: Client;
  readonly taskQueue: string;
  readonly log: Log;
  readonly workflowId?: string;
  /** How often it is looked after; a minute unless given. */
  readonly everyMs?: number;
}

/**
 * Sees to it that the scheduler is there, now and for as long as this process works: somebody may terminate it, or
 * its server may lose it, and without it nothing would run. However many processes do this, there is one scheduler.
 */
export async function keepScheduler(settings: SchedulerSettings): Promise<{ stop(): void }> {
  const { client, taskQueue, log, workflowId = SCHEDULER_WORKFLOW_ID } = settings;
  const ensure = () =>
    client.workflow.start(WORKFLOW.scheduler, {
      taskQueue,
      workflowId,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      staticSummary: 'ticks every minute',
      args: [],
    });
  await ensure();
  const timer = setInterval(() => {
    ensure().catch((err: unknown) => log.warn({ err }, 'the scheduler could not be looked after'));
  }, settings.everyMs ?? 60_000);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
