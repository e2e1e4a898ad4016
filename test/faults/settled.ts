import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Database } from '#lib/database/index.ts';
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
 * Waits until nothing is under way, neither in Postgres nor in Temporal, but for the scheduler, which goes on. However
 * much the kills have left to do, it has to become less all the time.
 * @throws with what there still is, once nothing has ended for `stuckMs`
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
 * Returns a number that falls with each end: a due occurrence becomes a run, and the end of a run a delivery. Workflows
 * are left out, as each ends with one of these.
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
