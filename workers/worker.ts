import {
  Worker,
  type NativeConnection,
  type WorkerOptions as SdkOptions,
} from '@temporalio/worker';
import { discreet } from '#activities/discreet.ts';
import { createRunActivities, type RunActivityDeps } from '#activities/runs.ts';
import { createSchedulingActivities } from '#activities/scheduling.ts';
import { createWebhookActivities } from '#activities/webhooks.ts';
import type { TickDeps } from '#core/scheduling/index.ts';
import type { SealedWebhookSecrets } from '#core/webhooks/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { schedulerTaskQueue, webhookTaskQueue } from '#lib/temporal/index.ts';
import type { Tracing } from '#lib/tracing/index.ts';
import { observeActivities, workflowSinks } from './tracing.ts';
import { workflowBundle } from './workflow-bundle.ts';

export interface WorkerDeps extends RunActivityDeps, TickDeps {
  readonly outbound: OutboundClient;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly webhookSecrets: SealedWebhookSecrets;
}

export interface WorkerSettings {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Steps of runs at a time; each model call may hold one for minutes. */
  readonly concurrency: number;
  /** Workflow tasks at a time; each is a few milliseconds of CPU. Default 40. */
  readonly workflowConcurrency?: number;
  /** Workflows kept in memory between their tasks. Default: as many as fit into the heap. */
  readonly maxCachedWorkflows?: number | undefined;
  readonly shutdownGraceSeconds: number;
  readonly deps: WorkerDeps;
}

export interface RunningWorkers {
  /** Resolves when all have stopped, after `shutdown` or a signal. */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * The workers of one process: one for workflows and the steps of runs, and one each, with slots of their own, for
 * ticks and for webhook attempts, so that neither waits behind model calls. Any number of processes share the queues.
 */
export async function createWorkers(settings: WorkerSettings): Promise<RunningWorkers> {
  const { deps, taskQueue } = settings;
  const common: Omit<SdkOptions, 'taskQueue'> = {
    connection: settings.connection,
    namespace: settings.namespace,
    // Zero by default: activities would be cut off at once, and their model calls paid for twice.
    shutdownGraceTime: `${settings.shutdownGraceSeconds}s`,
    interceptors: { activity: [observeActivities(deps.tracing)] },
    // A cancellation comes back with a heartbeat, which would be held back to one in eight seconds.
    maxHeartbeatThrottleInterval: '2s',
    shutdownForceTime: `${settings.shutdownGraceSeconds + 10}s`,
  };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: discreet(deps.log, createRunActivities(deps)),
      maxConcurrentActivityTaskExecutions: settings.concurrency,
      maxConcurrentWorkflowTaskExecutions: settings.workflowConcurrency ?? 40,
      sinks: workflowSinks(deps.tracing),
      ...(settings.maxCachedWorkflows === undefined
        ? {}
        : { maxCachedWorkflows: settings.maxCachedWorkflows }),
    }),
    Worker.create({
      ...common,
      taskQueue: schedulerTaskQueue(taskQueue),
      activities: discreet(deps.log, createSchedulingActivities(deps)),
      maxConcurrentActivityTaskExecutions: 4,
    }),
    Worker.create({
      ...common,
      taskQueue: webhookTaskQueue(taskQueue),
      activities: discreet(deps.log, createWebhookActivities(deps)),
      maxConcurrentActivityTaskExecutions: settings.concurrency,
    }),
  ]);
  return {
    async run() {
      await Promise.all(workers.map((worker) => worker.run()));
    },
    shutdown() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    },
  };
}
