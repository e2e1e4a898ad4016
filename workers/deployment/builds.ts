import { isGrpcServiceError, type Client } from '@temporalio/client';
import { openRunsOfBuild, workersOfBuild } from '#core/execution/admission/index.ts';
import { loadConfig } from '#lib/config/index.ts';
import { openDatabase, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import {
  buildsOf,
  deploymentNameOf,
  installRuntime,
  openTemporal,
  openWorkflowsOf,
  type KnownBuild,
} from '#lib/temporal/index.ts';

export interface BuildStatus {
  readonly buildId: string;
  /** A draining build has open workflows and gets no new ones; a new build has never been current. */
  readonly state: 'new' | 'current' | 'draining' | 'drained';
  /** Number of live workers of the build. */
  readonly workers: number;
  /** Runs that have begun on the build and not ended. */
  readonly openRuns: number;
  /** Open workflows that stay on the build: runs, deliveries, and the scheduler. */
  readonly openWorkflows: number;
}

/** Lists the builds of the deployment, the newest first; empty before the first worker with a build. */
export async function readBuilds(deployment: Deployment): Promise<BuildStatus[]> {
  const builds = await knownBuilds(deployment);
  return Promise.all(
    builds.map(async (build) => {
      const { buildId } = build;
      const { client, database, taskQueue, name: deploymentName } = deployment;
      const [{ live }, openRuns, openWorkflows] = await Promise.all([
        workersOfBuild(database, taskQueue, buildId),
        openRunsOfBuild(database, buildId),
        openWorkflowsOf(client, { deploymentName, buildId }),
      ]);
      const state = stateOf(build, openRuns + openWorkflows);
      return { buildId, state, workers: live, openRuns, openWorkflows };
    }),
  );
}

function stateOf({ isCurrent, isNew }: KnownBuild, open: number): BuildStatus['state'] {
  if (isCurrent) return 'current';
  if (open > 0) return 'draining';
  return isNew ? 'new' : 'drained';
}

/** Status of the error while Temporal has not yet seen a worker with a build. */
const NOT_FOUND: ReadonlySet<number> = new Set([5]);

async function knownBuilds({ client, name }: Deployment) {
  try {
    return await buildsOf(client, name);
  } catch (err) {
    if (isGrpcServiceError(err) && NOT_FOUND.has(err.code)) return [];
    throw err;
  }
}

/** The worker deployment of one installation, for an operator's command. */
export interface Deployment {
  readonly name: string;
  readonly taskQueue: string;
  readonly client: Client;
  readonly database: Database;
  close(): Promise<void>;
}

/** Opens the deployment that the environment names. */
export async function openDeployment(): Promise<Deployment> {
  const config = loadConfig('deployment');
  // The command prints its own output, so only errors of the Temporal runtime are logged.
  installRuntime(createLog({ level: 'error', name: 'deployment' }));
  const client = await openTemporal(config);
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: 2,
    applicationName: 'ras-deployment',
  });
  return {
    name: deploymentNameOf(config),
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    client,
    database,
    async close() {
      await Promise.allSettled([client.connection.close(), database.end()]);
    },
  };
}
