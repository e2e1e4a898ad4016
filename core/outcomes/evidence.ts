import type { ResultCheck } from '#core/routines/index.ts';
import { FINISH } from '#core/tools/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';

/** Counts of a tool's calls in a run, as far as checks need them. */
export interface CallCount {
  /** The name by which the model called the tool. */
  readonly name: string;
  readonly policyId: string | null;
  readonly succeeded: number;
  readonly refused: number;
}

/** Returns true when any of the checks is about the run's tool calls. */
export function asksForCalls(checks: readonly ResultCheck[]): boolean {
  return checks.some(({ type }) => type === 'tool_succeeded' || type === 'no_refused_calls');
}

/**
 * Counts the calls of a run, all of which are recorded when its last step is. A refused call of `finish` is not
 * counted: it did nothing.
 */
export function countCalls(db: Db, runId: string): Promise<CallCount[]> {
  return rows<CallCount>(
    db,
    sql`
      select tool->>'name' as name, tool->>'policyId' as "policyId",
        (count(*) filter (where state = 'succeeded'))::integer as succeeded,
        (count(*) filter (where (tool->>'rejected')::boolean or (tool->>'refused')::boolean))::integer as refused
      from steps
      where run_id = ${runId} and kind = 'tool'
        and not (tool->>'policyId' is null and coalesce(tool->>'toolName', '') = ${FINISH})
      group by 1, 2
    `,
  );
}
