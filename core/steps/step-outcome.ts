import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { remainingMsOf, isEndState, type RunState } from '#core/runs/index.ts';

/** The outcome of a model step as the workflow sees it: enough to take the next step, nothing private. */
export type StepOutcome =
  | { readonly next: 'ended'; readonly state: RunState }
  /** The same step again after `delayMs`: what it needs of a budget is reserved by other steps. */
  | { readonly next: 'wait'; readonly delayMs: number; readonly remainingMs: number }
  /**
   * The next model step is at `nextIndex`, after these calls. Each call is a step of its own, from the next index on.
   * Only the names of the tools cross Temporal; they are made of letters, digits, `_` and `-`.
   */
  | {
      readonly next: 'continue';
      readonly toolCalls: readonly string[];
      readonly nextIndex: number;
      /** Milliseconds that the run has left, so that what follows can be bounded. */
      readonly remainingMs: number;
    };

/** Reads the outcome of a model step that is on record, or whose run has ended. */
export async function readOutcome(db: Db, runId: string, index: number): Promise<StepOutcome> {
  const found = await row<{ state: RunState; remainingMs: number | null }>(
    db,
    sql`
      select state, ${remainingMsOf(sql`runs`)} as "remainingMs" from runs where id = ${runId}
    `,
  );
  const state = found?.state ?? 'failed';
  if (isEndState(state)) return { next: 'ended', state };
  const calls = await rows<{ name: string; rejected: boolean }>(
    db,
    sql`
      select tool->>'name' as name, (tool->>'rejected')::boolean as rejected from steps
      where run_id = ${runId} and index > ${index} and kind = 'tool' and index < coalesce(
        (select min(index) from steps where run_id = ${runId} and index > ${index} and kind = 'model'), 2147483647)
      order by index
    `,
  );
  const toolCalls = calls.filter(({ rejected }) => !rejected).map(({ name }) => name);
  const remainingMs = found?.remainingMs ?? 0;
  return { next: 'continue', toolCalls, nextIndex: index + 1 + calls.length, remainingMs };
}
