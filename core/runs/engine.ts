import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { SEARCH_ATTRIBUTE, WORKFLOW } from '#lib/temporal/index.ts';
import type { Trigger } from './states.ts';

/** What starting a run's workflow takes: ids and small numbers, nothing private. */
export interface StartableRun {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly trigger: Trigger;
  readonly timeoutSeconds: number;
}

/** The Temporal side of runs and deliveries, as the rest of the product sees it. */
export interface RunEngine {
  /**
   * Starts the workflow; one that is open or has come to its end is success, one that was terminated is started
   * again. Throws when Temporal cannot be reached.
   */
  startRun(run: StartableRun): Promise<void>;
  startDelivery(delivery: { id: string; attempt: number; projectId: string }): Promise<void>;
  /** Asks the run's workflow to cancel; one that is gone is success. */
  cancelRun(runId: string): Promise<void>;
  /** Whether the run's workflow is open, has come to its end, or is gone: terminated, failed, or never heard of. */
  workflowState(runId: string): Promise<'open' | 'completed' | 'gone'>;
  isHealthy(): Promise<boolean>;
}

/** How long a request may wait for Temporal before the row alone has to do and a tick starts the workflow. */
const DEADLINE_MS = 3_000;

export function createRunEngine(client: Client, taskQueue: string): RunEngine {
  const within = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + DEADLINE_MS, call);

  return {
    async startRun(run) {
      await within(() =>
        startOnce(() =>
          client.workflow.start(WORKFLOW.run, {
            taskQueue,
            workflowId: run.id,
            // Only runs that are still queued are started, so a workflow that came to nothing stands in no way.
            workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
            args: [{ runId: run.id, timeoutSeconds: run.timeoutSeconds }],
            staticSummary: `${run.trigger} run of ${run.routineId}`,
            priority: { fairnessKey: run.projectId },
            typedSearchAttributes: new TypedSearchAttributes([
              { key: SEARCH_ATTRIBUTE.project, value: run.projectId },
              { key: SEARCH_ATTRIBUTE.routine, value: run.routineId },
              { key: SEARCH_ATTRIBUTE.trigger, value: run.trigger },
            ]),
          }),
        ),
      );
    },
    async startDelivery({ id, attempt, projectId }) {
      await within(() =>
        startOnce(() =>
          client.workflow.start(WORKFLOW.webhookDelivery, {
            taskQueue,
            workflowId: `${id}-${attempt}`,
            workflowIdReusePolicy: 'ALLOW_DUPLICATE',
            args: [{ deliveryId: id }],
            staticSummary: `webhook delivery ${id}, attempt ${attempt}`,
            priority: { fairnessKey: projectId },
            typedSearchAttributes: new TypedSearchAttributes([
              { key: SEARCH_ATTRIBUTE.project, value: projectId },
            ]),
          }),
        ),
      );
    },
    async cancelRun(runId) {
      try {
        await within(() => client.workflow.getHandle(runId).cancel());
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
    async workflowState(runId) {
      try {
        const { status } = await within(() => client.workflow.getHandle(runId).describe());
        if (status.name === 'COMPLETED') return 'completed';
        return status.name === 'RUNNING' || status.name === 'PAUSED' ? 'open' : 'gone';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'gone';
        throw error;
      }
    },
    async isHealthy() {
      try {
        await within(() => client.workflowService.getSystemInfo({}));
        return true;
      } catch {
        return false;
      }
    },
  };
}

async function startOnce(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
