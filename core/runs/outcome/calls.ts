import type { ResultCheck } from '#core/routines/index.ts';
import { FINISH } from '#core/tools/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';

/** The calls of one tool in a run, as far as checks ask for them. */
export interface CallCount {
  /** The name by which the model called the tool. */
  readonly name: string;
  readonly policyId: string | null;
  readonly succeeded: number;
  readonly refused: number;
}

/** Tells whether any of the checks asks what the tools of the run did. */
export function asksForCalls(checks: readonly ResultCheck[]): boolean {
  return checks.some(({ type }) => type === 'tool_succeeded' || type === 'no_refused_calls');
}

/**
 * Counts the calls of a run, which are all on record when its last step is. A refused call of `finish` is a matter of form
 * and not of what the run did.
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
