import pg from 'pg';
import { withStatements, type Database, type Db } from '#lib/database/index.ts';

interface Explained {
  readonly Plan: Record<string, number>;
}

/**
 * Counts the blocks that Postgres touches for the first statement of `read`. The statement gets no rows, and its writes
 * are rolled back.
 * @param plan for these values, or for any values, as a connection uses it for a prepared statement
 */
export async function blocksOf(
  database: Database,
  read: (db: Db) => Promise<unknown>,
  plan: 'for these values' | 'for any values' = 'for these values',
): Promise<number> {
  const client = await database.connect();
  const explained: Explained[] = [];
  const explaining = withStatements({
    async query(config) {
      const result = await (plan === 'for any values'
        ? explainPrepared(client, config)
        : client.query({ ...config, name: undefined, text: `${EXPLAIN} ${config.text}` }));
      explained.push(...result.rows[0]['QUERY PLAN']);
      return { ...result, rows: [] };
    },
  });
  try {
    await client.query('begin');
    await read(explaining);
  } finally {
    await client.query('rollback');
    client.release();
  }
  const counts = explained[0]?.Plan;
  return (counts?.['Shared Hit Blocks'] ?? NaN) + (counts?.['Shared Read Blocks'] ?? NaN);
}

const EXPLAIN = 'explain (analyze, buffers, format json)';

async function explainPrepared(client: pg.PoolClient, { text, values = [] }: pg.QueryConfig): Promise<pg.QueryResult> {
  await client.query('set local plan_cache_mode = force_generic_plan');
  await client.query(`prepare measured as ${text}`);
  const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
  const result = await client.query(`${EXPLAIN} execute measured${given}`);
  await client.query('deallocate measured');
  return result;
}

/** Writes a parameter into the text of a statement, because `execute` accepts no parameters. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : text);
}
