import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { row, sql, type Database } from '#lib/database/index.ts';
import { SCHEDULER_WORKFLOW_ID } from '#lib/temporal/index.ts';
import type { Cluster } from './cluster.ts';

/** Counts of the work that is still under way. */
interface OpenWork {
  readonly runs: number;
  readonly deliveries: number;
  readonly due: number;
  /** Other than the scheduler. */
  readonly workflows: number;
}

/**
 * Waits until nothing is under way, neither in Postgres nor in Temporal, but for the scheduler, which goes on.
 * @throws with what there still is, after `timeoutMs`
 */
export async function settled(
  cluster: Cluster,
  database: Database,
  timeoutMs: number,
): Promise<void> {
  const connection = await Connection.connect({ address: cluster.temporalAddress });
  const client = new Client({ connection });
  const end = Date.now() + timeoutMs;
  try {
    for (;;) {
      const open = await openWork(client, database);
      if (Object.values(open).every((count) => count === 0)) break;
      if (Date.now() > end) throw new Error(`not settled in time: ${JSON.stringify(open)}`);
      await sleep(500);
    }
    const scheduler = await client.workflow.getHandle(SCHEDULER_WORKFLOW_ID).describe();
    if (scheduler.status.name !== 'RUNNING') {
      throw new Error(`the scheduler is ${scheduler.status.name}`);
    }
  } finally {
    await connection.close();
  }
}

async function openWork(client: Client, database: Database): Promise<OpenWork> {
  const rows = await row<Omit<OpenWork, 'workflows'>>(
    database,
    sql`
      select
        (select count(*) from runs where state in ('queued', 'running')) as runs,
        (select count(*) from webhook_deliveries where state in ('pending', 'sending')) as deliveries,
        (select count(*) from routines where state = 'active' and next_run_at <= now()) as due
    `,
  );
  const { count: workflows } = await client.workflow.count(
    `ExecutionStatus = 'Running' and WorkflowType != 'scheduler'`,
  );
  return { ...rows!, workflows };
}
