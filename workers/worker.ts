import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { Worker, type NativeConnection, type WorkerOptions as SdkOptions } from '@temporalio/worker';
import {
  createActionActivities,
  createRunActivities,
  createSchedulingActivities,
  createWebhookActivities,
  type RunActivityDeps,
} from '#activities/activities.ts';
import { newWorkerId } from '#core/execution/admission/index.ts';
import { keepRuntimeLease } from '#core/models/providers/index.ts';
import type { Services } from '#core/services.ts';
import { schedulerTaskQueue, webhookTaskQueue } from '#lib/task-queues.ts';
import type { Build } from '#lib/temporal/index.ts';
import type { Log } from '#lib/log.ts';
import { keepAnnounced } from './slots.ts';
import { followStanding } from './standing.ts';
import { observeActivities, workflowSinks } from './tracing.ts';
import { workflowBundle } from './workflow-bundle.ts';

export type WorkerDeps = Services & RunActivityDeps;

export interface WorkerSettings {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  /** The most steps of runs at a time. A model call may use its slot for minutes. */
  readonly concurrency: number;
  /** The most workflow tasks at a time, each of a few milliseconds of CPU. Default 40. */
  readonly workflowConcurrency?: number;
  /** Workflows kept in memory between their tasks. Default: as many as fit into the heap. */
  readonly maxCachedWorkflows?: number | undefined;
  readonly shutdownGraceSeconds: number;
  /** Build of this release. Without a build, all workers of the queues share all workflows. */
  readonly build?: Build | undefined;
  /** Aborts when the process gets the signal to stop. The slots are then withdrawn at once. */
  readonly stopping?: AbortSignal;
  readonly deps: WorkerDeps;
}

export interface RunningWorkers {
  /**
   * Resolves when all workers have stopped, after `shutdown` or a signal. A worker that fails stops the others.
   * @throws the first error, once all have released the connection
   */
  run(): Promise<void>;
  shutdown(): void;
  /** Returns true when all workers ask for tasks. */
  isPolling(): boolean;
  /** Returns true when new runs start on this build. */
  takesRuns(): boolean;
  /** Releases the connection of workers that have not run. */
  discard(): Promise<void>;
}

/**
 * Creates the three workers of one process: for workflows and steps of runs, for ticks, and for webhook attempts and
 * approved actions. Each has its own slots, so that ticks and webhooks do not wait behind model calls. Any number of
 * processes share the queues.
 * @throws the error of a worker that could not be created, after the others have released the connection
 */
export async function createWorkers(settings: WorkerSettings): Promise<RunningWorkers> {
  const { deps, taskQueue } = settings;
  const common: Omit<SdkOptions, 'taskQueue'> = {
    connection: settings.connection,
    namespace: settings.namespace,
    // The default of zero would cut off activities at once, and their model calls would be paid for twice.
    shutdownGraceTime: `${settings.shutdownGraceSeconds}s`,
    interceptors: { activity: [observeActivities(deps.tracing)] },
    // A cancellation arrives with a heartbeat, which Temporal would otherwise send only every eight seconds.
    maxHeartbeatThrottleInterval: '2s',
    shutdownForceTime: `${settings.shutdownGraceSeconds + 10}s`,
    ...versioning(settings.build),
  };
  const scheduling = createSchedulingActivities(deps);
  const created = await Promise.allSettled([
    Worker.create({
      ...common,
      taskQueue,
      workflowBundle: await workflowBundle(deps.log),
      activities: discreet(deps.log, createRunActivities(deps)),
      maxConcurrentActivityTaskExecutions: settings.concurrency,
      maxConcurrentWorkflowTaskExecutions: settings.workflowConcurrency ?? 40,
      sinks: workflowSinks(deps.tracing),
      ...(settings.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: settings.maxCachedWorkflows }),
    }),
    Worker.create({
      ...common,
      taskQueue: schedulerTaskQueue(taskQueue),
      activities: discreet(deps.log, scheduling),
      // One slot for each part of a tick, so that claiming does not wait for parts that take most of a minute.
      maxConcurrentActivityTaskExecutions: Object.keys(scheduling).length,
    }),
    Worker.create({
      ...common,
      taskQueue: webhookTaskQueue(taskQueue),
      activities: discreet(deps.log, { ...createWebhookActivities(deps), ...createActionActivities(deps) }),
      maxConcurrentActivityTaskExecutions: settings.concurrency,
    }),
  ]);
  const workers = created.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = created.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await discard(workers);
    throw failed.reason;
  }
  const draining = new AbortController();
  const { build } = settings;
  const slots = {
    workerId: newWorkerId(),
    taskQueue,
    slots: settings.concurrency,
    buildId: build?.buildId,
  };
  const standing = followStanding({ ...settings, build, log: deps.log });
  return {
    async run() {
      const signal = AbortSignal.any([
        draining.signal,
        ...(settings.stopping === undefined ? [] : [settings.stopping]),
      ]);
      const announcing = keepAnnounced(deps, slots, standing, signal);
      // Keep the lease of the model runtime until the last step has ended: without the lease, running calls would be
      // lost.
      const ended = new AbortController();
      const { database, modelRuntime: runtime, log } = deps;
      const leasing = runtime && keepRuntimeLease({ database, runtime, log }, ended.signal);
      const running = workers.map((worker) => worker.run());
      const all = Promise.all(running);
      all.catch(() => shutdown(workers));
      await Promise.allSettled(running);
      draining.abort();
      ended.abort();
      await Promise.all([announcing, leasing]);
      await all;
    },
    shutdown() {
      draining.abort();
      shutdown(workers);
    },
    isPolling: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    takesRuns: () => standing.takesRuns(),
    discard: () => discard(workers),
  };
}

/**
 * Pins each workflow to the build on which it began, so that a release may change workflows, or be taken back, while
 * they are open.
 */
function versioning(build: Build | undefined): Pick<SdkOptions, 'workerDeploymentOptions'> {
  if (build === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: build,
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

function shutdown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

/** A worker releases its connection only after it has run, so each worker is run and stopped at once. */
async function discard(workers: readonly Worker[]): Promise<void> {
  await Promise.allSettled(workers.map((worker) => worker.runUntil(Promise.resolve())));
}

/**
 * Keeps unexpected errors out of Temporal's history, which shows messages and stacks as plain text; a database driver's
 * error quotes the value that caused it. The log has the error, and the history only `internal_error`.
 */
function discreet<A extends object>(log: Log, activities: A): A {
  const wrapped = Object.entries(activities).map(([name, work]) => [
    name,
    async (...input: unknown[]) => {
      try {
        return await work(...input);
      } catch (error) {
        if (error instanceof TemporalFailure) throw error;
        log.error({ err: error, activity: name }, 'an activity failed');
        throw ApplicationFailure.create({ type: 'internal_error', message: 'See the log.' });
      }
    },
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names with the same signatures
  return Object.fromEntries(wrapped) as A;
}
