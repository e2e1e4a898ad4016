import type { Client } from '@temporalio/client';
import { loadConfig } from '#lib/config/index.ts';
import { openDatabase, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { deploymentNameOf, installRuntime, openTemporal } from '#lib/temporal/index.ts';

/** The worker deployment of one installation, as an operator's command finds it. */
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
  // The command speaks for itself; only what goes wrong underneath is logged.
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
