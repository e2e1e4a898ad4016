import type { Database, Db } from '#lib/database/index.ts';

/** Counts the blocks that Postgres touches for the first statement that `read` makes, which gets no rows. */
export async function blocksOf(
  database: Database,
  read: (db: Db) => Promise<unknown>,
): Promise<number> {
  const plans: { Plan: Record<string, number> }[] = [];
  const explaining: Db = {
    async query(config) {
      const { text, values } = config;
      const result = await database.query({
        text: `explain (analyze, buffers, format json) ${text}`,
        values: values ?? [],
      });
      plans.push(...result.rows[0]['QUERY PLAN']);
      return { ...result, rows: [] };
    },
  };
  await read(explaining);
  const plan = plans[0]?.Plan;
  return (plan?.['Shared Hit Blocks'] ?? NaN) + (plan?.['Shared Read Blocks'] ?? NaN);
}
