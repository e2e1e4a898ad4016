import { endRun, runClock, unwantedReason, type AfterEndDeps } from '#core/runs/index.ts';
import { isEndState, skip, type RunReason, type RunState } from '#core/run-states/index.ts';
import { row, rows, sql, type Db, type Sql } from '#lib/database/index.ts';

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
      select state, ${runClock.remainingMs(sql`runs`)} as "remainingMs" from runs where id = ${runId}
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

/**
 * Skips a run that was about to begin although its routine has been paused, changed or archived.
 * @returns undefined when the run is still wanted, or has begun
 */
export async function endUnwanted(
  deps: AfterEndDeps,
  runId: string,
): Promise<StepOutcome | undefined> {
  const found = await row<{ reason: RunReason | null }>(
    deps.database,
    sql`
      select ${unwantedReason} as reason from runs join routines r on r.id = runs.routine_id
      where runs.id = ${runId}
    `,
  );
  if (found === undefined || found.reason === null) return undefined;
  await endRun(deps, runId, skip(found.reason));
  return { next: 'ended', state: 'skipped' };
}

/** Tells whether a run goes on: it is running, is not cancelled, and has time left. */
export async function isStillWanted(db: Db, runId: string): Promise<boolean> {
  const run = await row<{ wanted: boolean }>(
    db,
    sql`
      select state = 'running' and cancel_requested_at is null and ${runClock.remainingMs(sql`runs`)} > 0 as wanted
      from runs where id = ${runId}
    `,
  );
  return run?.wanted === true;
}

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
