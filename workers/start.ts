import { NativeConnection } from '@temporalio/worker';
import type { ConfigOf } from '#lib/config/index.ts';
import type { Log } from '#lib/log.ts';
import {
  connectionOptions,
  deploymentNameOf,
  dropDetail,
  ensureSearchAttributes,
  SEARCH_ATTRIBUTE_NAMES,
  type Build,
} from '#lib/temporal/index.ts';
import type { openServices } from '#core/services.ts';
import { keepScheduler } from './scheduler.ts';
import { createWorkers, type RunningWorkers } from './worker.ts';

export interface StartedWorkers {
  /** Works until the Temporal runtime has received a signal and all workers have stopped. */
  run(): Promise<void>;
  isPolling(): boolean;
  takesRuns(): boolean;
  /** Releases everything, including workers that never ran. */
  close(): Promise<void>;
}

/**
 * Connects to Temporal and creates the workers.
 * @throws the first error, after everything is released. A further attempt needs a new connection: the native part of
 * the client reserves the name of a failed worker while its connection is open
 */
export async function startWorkers(
  config: ConfigOf<'worker'>,
  { deps, temporal: client }: Awaited<ReturnType<typeof openServices>>,
  stopping: AbortSignal,
): Promise<StartedWorkers> {
  const { log } = deps;
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: taskQueue } = config;
  const connection = await NativeConnection.connect(await connectionOptions(config));
  let workers: RunningWorkers | undefined;
  try {
    dropDetail(log);
    await registerSearchAttributes(connection, namespace, log);
    const running = await createWorkers({
      connection,
      namespace,
      taskQueue,
      concurrency: config.WORKER_CONCURRENCY,
      workflowConcurrency: config.WORKER_WORKFLOW_CONCURRENCY,
      maxCachedWorkflows: config.WORKER_MAX_CACHED_WORKFLOWS,
      shutdownGraceSeconds: config.WORKER_SHUTDOWN_GRACE_SECONDS,
      build: buildOf(config),
      stopping,
      deps,
    });
    workers = running;
    const takesRuns = () => running.takesRuns();
    const scheduler = await keepScheduler({ client, taskQueue, log, takesRuns });
    return {
      run: () => running.run(),
      isPolling: () => running.isPolling(),
      takesRuns,
      async close() {
        scheduler.stop();
        await running.discard();
        await connection.close();
      },
    };
  } catch (err) {
    await workers?.discard();
    await connection.close();
    throw err;
  }
}

function buildOf(config: ConfigOf<'worker'>): Build | undefined {
  const { WORKER_BUILD_ID: buildId } = config;
  return buildId === undefined ? undefined : { deploymentName: deploymentNameOf(config), buildId };
}

/**
 * Registers the search attributes. Without the right to do so, an administrator must register them; until then the
 * server refuses every run.
 */
async function registerSearchAttributes(connection: NativeConnection, namespace: string, log: Log): Promise<void> {
  try {
    const registered = await ensureSearchAttributes(connection.operatorService, namespace);
    if (registered.length > 0) log.info({ registered }, 'search attributes registered');
  } catch (err) {
    log.warn(
      { err, needed: SEARCH_ATTRIBUTE_NAMES },
      'search attributes could not be checked; runs cannot start without them',
    );
  }
}
