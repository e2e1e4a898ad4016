import { sql, type Sql } from '#lib/database/index.ts';

/** Tells in SQL whether a run goes on and its model step has no response yet. */
export function isAwaited({
  runId,
  index,
}: {
  readonly runId: string;
  readonly index: number;
}): Sql {
  return sql`exists (
    select from runs join steps on steps.run_id = runs.id and steps.index = ${index}
    where runs.id = ${runId} and runs.state = 'running' and steps.state = 'started')`;
}
