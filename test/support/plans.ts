import { openDatabase, type Database } from '#lib/database/index.ts';

/**
 * Returns the plans of the statements that `work` makes, with real times. Postgres itself reports them (auto_explain),
 * so they are the plans of the product's own statements.
 */
export async function explained(
  databaseUrl: string,
  work: (database: Database, plans: string[]) => Promise<unknown>,
): Promise<string[]> {
  const plans: string[] = [];
  // The pool has one connection, so that the connection with auto_explain serves all statements.
  const database = openDatabase({ url: databaseUrl, poolSize: 1, applicationName: 'bench' });
  try {
    const client = await database.connect();
    client.on('notice', ({ message = '' }) => {
      if (message.startsWith('duration:')) plans.push(withoutStatement(message));
    });
    await client.query(`
      load 'auto_explain';
      set auto_explain.log_min_duration = 0;
      set auto_explain.log_analyze = on;
      set auto_explain.log_buffers = on;
      set client_min_messages = log;
    `);
    client.release();
    plans.length = 0;
    await work(database, plans);
    return plans;
  } finally {
    await database.end();
  }
}

/**
 * Sums the buffers of plans, a measure of work that does not depend on the machine's load. The first node of a plan
 * includes the nodes below it.
 */
export function buffersOf(plans: readonly string[]): number {
  return plans.reduce((sum, plan) => {
    const [, counts = ''] = /Buffers: shared([^\n]*)/.exec(plan) ?? [];
    const touched = [...counts.matchAll(/(?:hit|read)=(\d+)/g)].map(([, n]) => Number(n));
    return touched.reduce((total, n) => total + n, sum);
  }, 0);
}

function withoutStatement(message: string): string {
  const lines = message.split('\n');
  const first = lines.findIndex((line) => line.includes('(cost='));
  // Cut long lines, because a condition may contain hundreds of ids.
  const plan = lines.slice(Math.max(first, 0));
  return plan.map((line) => (line.length > 200 ? `${line.slice(0, 200)} …` : line)).join('\n');
}
