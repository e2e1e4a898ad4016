import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { sql, type Sql } from '#lib/database/index.ts';
import { SEARCH_ATTRIBUTE, WORKFLOW } from '#lib/temporal/index.ts';

/** Ways in which a run is started. */
export const TRIGGERS = ['schedule', 'manual', 'backfill', 'follow_up', 'rehearsal'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/**
 * SQL condition on the trigger of a run: the run does the work of its routine. Rehearsals and answers about a result do
 * not: they count neither as results nor as failures, and notify no one.
 */
export function isWork(trigger: Sql): Sql {
  return sql`${trigger} not in ('follow_up', 'rehearsal')`;
}

/** Input of a run's workflow: ids and small values, nothing private. */
export interface StartableRun {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly trigger: Trigger;
  readonly timeoutSeconds: number;
}

/** Input of a delivery's workflow. `attempt` is the number of the next attempt. */
export interface StartableDelivery {
  readonly id: string;
  readonly attempt: number;
  readonly projectId: string;
}

/** Input of the workflow that sends an approved action; `attempt` numbers the workflows of the action. */
export interface StartableAction {
  readonly id: string;
  readonly attempt: number;
  readonly projectId: string;
}

/** Starts, cancels and looks up workflows. Every method but `isHealthy` throws when Temporal cannot be reached. */
export interface Engine {
  /** Starts a run's workflow: an open or completed workflow stays unchanged, a terminated workflow starts again. */
  startRun(run: StartableRun): Promise<void>;
  /** Starts the workflow that makes a delivery's next attempt, unless it is open already. */
  startDelivery(delivery: StartableDelivery): Promise<void>;
  /** Starts the workflow that sends an approved action, unless it is open already. */
  startAction(action: StartableAction): Promise<void>;
  /** Asks the run's workflow to cancel. A workflow that does not exist counts as cancelled. */
  cancelRun(runId: string): Promise<void>;
  /** Ends the run's workflow without asking it. A workflow that does not exist counts as ended. */
  terminateRun(runId: string, reason: string): Promise<void>;
  /** Tells whether the run's workflow is open, completed, or gone: terminated, failed, or unknown to Temporal. */
  workflowState(runId: string): Promise<'open' | 'completed' | 'gone'>;
  /** Returns the build of the run's workflow; undefined while it has none, or if the workflow is gone. */
  buildOf(runId: string): Promise<string | undefined>;
  isHealthy(): Promise<boolean>;
}

/** The longest wait for a first step that a routine may allow (`limits.maxQueueSeconds`): a week. */
const LONGEST_QUEUE_SECONDS = 604_800;

/** An attempt and its few retries take minutes. A tick repeats an attempt that no worker continues. */
const DELIVERY_TIMEOUT = '1h';

/**
 * Longest time that a request waits for Temporal. Then the request continues without Temporal: the row is stored, and a
 * tick does the rest.
 */
const DEADLINE_MS = 3_000;

export function createEngine(client: Client, taskQueue: string): Engine {
  const within = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + DEADLINE_MS, call);
  const startOnce = async (start: () => Promise<unknown>) => {
    try {
      await within(start);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
  const unlessGone = async (call: () => Promise<unknown>) => {
    try {
      await within(call);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };

  return {
    async startRun(run) {
      await startOnce(() =>
        client.workflow.start(WORKFLOW.run, {
          taskQueue,
          workflowId: run.id,
          // The run is still queued, so a workflow of this id that failed has done nothing and may be replaced.
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          args: [{ runId: run.id, timeoutSeconds: run.timeoutSeconds }],
          staticSummary: `${run.trigger} run of ${run.routineId}`,
          // The last resort, which Temporal applies. A run may wait twice, for its first step and for a budget. The
          // sweep settles a stuck run and ends its workflow long before this limit.
          workflowExecutionTimeout: `${2 * LONGEST_QUEUE_SECONDS + run.timeoutSeconds + 3_600}s`,
          priority: { fairnessKey: run.organizationId },
          typedSearchAttributes: new TypedSearchAttributes([
            { key: SEARCH_ATTRIBUTE.project, value: run.projectId },
            { key: SEARCH_ATTRIBUTE.routine, value: run.routineId },
            { key: SEARCH_ATTRIBUTE.trigger, value: run.trigger },
          ]),
        }),
      );
    },
    async startDelivery({ id, attempt, projectId }) {
      await startOnce(() =>
        client.workflow.start(WORKFLOW.webhookDelivery, {
          taskQueue,
          workflowId: `${id}-${attempt}`,
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          args: [{ deliveryId: id }],
          staticSummary: `webhook delivery ${id}, attempt ${attempt}`,
          workflowExecutionTimeout: DELIVERY_TIMEOUT,
          priority: { fairnessKey: projectId },
          typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTE.project, value: projectId }]),
        }),
      );
    },
    async startAction({ id, attempt, projectId }) {
      await startOnce(() =>
        client.workflow.start(WORKFLOW.heldAction, {
          taskQueue,
          workflowId: `${id}-${attempt}`,
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          args: [{ actionId: id, attempt }],
          staticSummary: `held action ${id}`,
          workflowExecutionTimeout: DELIVERY_TIMEOUT,
          priority: { fairnessKey: projectId },
          typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTE.project, value: projectId }]),
        }),
      );
    },
    async cancelRun(runId) {
      await unlessGone(() => client.workflow.getHandle(runId).cancel());
    },
    async terminateRun(runId, reason) {
      await unlessGone(() => client.workflow.getHandle(runId).terminate(reason));
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
    async buildOf(runId) {
      try {
        const { raw } = await within(() => client.workflow.getHandle(runId).describe());
        return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
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
