import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Database } from '#lib/database/index.ts';
import { SCHEDULER_WORKFLOW_ID } from '#lib/temporal/index.ts';
import type { Cluster } from './cluster.ts';

/** Counts of unfinished work. */
interface OpenWork {
  readonly runs: number;
  readonly deliveries: number;
  readonly due: number;
  /** Workflows except the scheduler. */
  readonly workflows: number;
}

/**
 * Waits until no work is left in Postgres and in Temporal, except the scheduler. The kills may have left much work, but
 * it has to decrease all the time.
 * @throws an error with the remaining work, once nothing has ended for `stuckMs`
 */
export async function settled(
  cluster: Cluster,
  database: Database,
  stuckMs: number,
  log: (line: string) => void,
): Promise<void> {
  const connection = await Connection.connect({ address: cluster.temporalAddress });
  const client = new Client({ connection });
  let [least, since] = [Infinity, Date.now()];
  try {
    for (;;) {
      const open = await openWork(client, database);
      if (least === Infinity) log(`to settle: ${JSON.stringify(open)}`);
      if (Object.values(open).every((count) => count === 0)) break;
      const left = stepsLeft(open);
      if (left < least) [least, since] = [left, Date.now()];
      if (Date.now() > since + stuckMs) throw new Error(`does not settle: ${JSON.stringify(open)}`);
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

/**
 * Returns a number that falls with each end: a due occurrence becomes a run, and an ended run a delivery. Workflows do
 * not count, because each ends with one of these.
 */
function stepsLeft({ due, runs, deliveries }: OpenWork): number {
  return 3 * due + 2 * runs + deliveries;
}

async function openWork(client: Client, database: Database): Promise<OpenWork> {
  const rows = await database.row<Omit<OpenWork, 'workflows'>>`
    select
      (select count(*) from runs where state in ('queued', 'running')) as runs,
      (select count(*) from webhook_deliveries where state in ('pending', 'sending')) as deliveries,
      (select count(*) from routines where state = 'active' and next_run_at <= now()) as due
  `;
  const { count: workflows } = await client.workflow.count(
    `ExecutionStatus = 'Running' and WorkflowType != 'scheduler'`,
  );
  return { ...rows!, workflows };
}
