import {
  compareWith,
  areNone,
  NO_CHANGES,
  findChanges,
  readItems,
  type ComparedResult,
  type DeliveredData,
  type Changes,
  type Items,
} from '#core/authoring/outcomes/index.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import type { PausedRoutine } from '#core/events.ts';
import type { Routine } from '#core/authoring/routines/index.ts';
import { hasLostDelivery, type ReportedRun } from '#core/delivery/webhooks/index.ts';
import { sql, storableJson, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { type ResultData, type RunState, type Trigger, type Withheld } from '#core/execution/run-states/index.ts';
import { assertEndedWithContent, readRun } from './queries.ts';
import { runColumns, type Run } from './run.ts';

/** Fields of a run that the transaction has just ended. */
type EndedRun = Pick<ReportedRun, 'id' | 'projectId' | 'routineId' | 'trigger' | 'state' | 'outcome' | 'deliver'> &
  Pick<PausedRoutine, 'webhookUrl' | 'webhookFailedAt'>;

export interface RecordedResult {
  readonly changes: ComparedResult | null;
  readonly withheld: Withheld | null;
}

/**
 * Records the data of a run that has just ended, its changes since the last delivered data, and whether the webhook
 * gets an event. Costs nothing when there is no data and the routine delivers everything.
 */
export async function recordResult(tx: Db, run: EndedRun, result: ResultData | undefined): Promise<RecordedResult> {
  const { id, projectId, routineId, trigger, state, outcome, deliver } = run;
  const hasWebhook = run.webhookUrl !== null && run.webhookFailedAt === null;
  if (result === undefined) {
    const withheld = hasWebhook ? withheldBy(deliver, { trigger, state, outcome, changes: null }) : null;
    if (withheld !== null) await tx.run`update runs set withheld = ${withheld} where id = ${id}`;
    return { changes: null, withheld };
  }
  const delivers = hasWebhook && deliver !== 'failed';
  const delivered = await findDelivered(tx, { id, projectId, routineId, delivers });
  const changes = compareWith(delivered, result.value, result.by);
  const withheld = hasWebhook ? withheldBy(deliver, { trigger, state, outcome, changes }) : 'no_webhook';
  const { against, unchangedRuns, ...kept } = changes;
  // `compared_at` is the clock's time and not `now()`, the beginning of the transaction: the transaction may have
  // waited for the lock on the routine since.
  await tx.run`
    update runs set data = ${storableJson(result.value)}::jsonb, changes = ${storableJson(kept)}::jsonb,
      compared_with = ${against}, compared_at = clock_timestamp(), unchanged_runs = ${unchangedRuns},
      withheld = ${withheld}
    where id = ${id}
  `;
  return { changes, withheld };
}

interface EndedResult {
  readonly trigger: Trigger;
  readonly state: RunState;
  readonly outcome: string | null;
  /** Changes of the data; null without data. */
  readonly changes: ComparedResult | null;
}

/** A webhook gets every failure: silence means that nothing has changed, never that nothing works. */
function withheldBy(deliver: Routine['deliver'], { trigger, state, outcome, changes }: EndedResult): Withheld | null {
  if (trigger === 'follow_up' || trigger === 'rehearsal') return trigger;
  if (deliver === 'always' || state === 'failed') return null;
  if (deliver === 'failed') return 'not_failed';
  if (state === 'cancelled') return 'no_change';
  if (changes === null && outcome === 'nothing_to_report') return 'no_change';
  // Data that an earlier version of the routine did not ask for cannot be compared.
  if (changes === null || changes.against === null) return null;
  return areNone(changes) ? 'no_change' : null;
}

/** Number of runs searched. If the receiver has missed more consecutive deliveries, everything counts as new again. */
const MAX_LOOKED_AT = 200;

/**
 * Finds the last delivered data. A run does not count when its delivery was given up or nothing was to be delivered.
 * For a run without a change, finds the run that it was compared with: the data is the same and is kept longer.
 * @param run.delivers whether the webhook gets results; if it does not, every run counts as delivered
 */
function findDelivered(
  tx: Db,
  run: { id: string; projectId: string; routineId: string; delivers: boolean },
): Promise<DeliveredData | undefined> {
  return tx.row<DeliveredData>`
    select anchor as against, data, by, case when unchanged then unchanged_runs else 0 end as "unchangedRuns"
    from (
      select id, data, compared_at, changes->'by' as by, unchanged_runs, withheld,
        compared_with is not null and changes->'counts' = ${NO_CHANGES}::jsonb as unchanged,
        case when withheld = 'no_change' then compared_with else id end as anchor
      from runs
      where routine_id = ${run.routineId} and project_id = ${run.projectId} and data is not null and id <> ${run.id}
        and trigger <> 'rehearsal'
      order by compared_at desc limit ${MAX_LOOKED_AT}
    ) earlier
    where not ${run.delivers}::boolean or (
      (withheld is null or withheld = 'no_change') and not ${hasLostDelivery(sql`anchor`)})
    order by compared_at desc limit 1
  `;
}

/** The complete difference between the data of two runs of a routine. */
interface RunDiff extends Changes {
  readonly runId: string;
  /** The earlier run; null if everything is new. */
  readonly against: string | null;
}

/**
 * Compares the data of a run with the data of another run of the routine. Items are matched by the key of the first
 * run.
 * @param input.against undefined for the run that the first was compared with when it ended
 * @throws {AppError} `run_not_found`, `run_not_finished`, `run_without_data`, `content_erased`, and `invalid_request`
 * when the other run belongs to another routine, or its data has no items by that key
 */
export async function diffRun(
  db: Db,
  input: { projectId: string; id: string; against: string | undefined },
): Promise<RunDiff> {
  const run = await readRun(db, input.projectId, input.id);
  const changes = changesOf(run);
  const { by } = changes;
  const against = input.against ?? changes.against;
  const after = itemsOf(run, by);
  if (against === null) return { runId: run.id, against, ...findChanges(new Map(), after, by) };
  const earlier = await readRun(db, input.projectId, against);
  if (earlier.routineId !== run.routineId) throw refused('not a run of the same routine');
  changesOf(earlier);
  return { runId: run.id, against, ...findChanges(itemsOf(earlier, by), after, by) };
}

/** Returns the changes of a run with data. Every run with data has recorded changes. */
function changesOf(run: Run): NonNullable<Run['changes']> {
  assertEndedWithContent(run);
  if (run.changes === null) throw new AppError('run_without_data');
  return run.changes;
}

function itemsOf({ data }: Run, by: Changes['by']): Items {
  const read = readItems(data, by);
  if (!read.ok) throw refused(read.issue);
  return read.items;
}

function refused(message: string): AppError {
  return invalid([{ path: 'against', message }]);
}

/**
 * Stores a reader's opinion of a run's result. The run names the last writer; the audit log has all writers.
 * @throws {AppError} `run_not_found`, `run_not_finished`, `content_erased`
 */
export function giveVerdict(
  database: Database,
  by: Actor,
  input: { projectId: string; id: string; useful: boolean; note: string | null },
): Promise<Run> {
  const { projectId, id, useful, note } = input;
  return transaction(database, async (tx) => {
    const before = await tx.row<Pick<Run, 'state' | 'contentErasedAt'>>`
      select state, content_erased_at as "contentErasedAt" from runs
      where id = ${id} and project_id = ${projectId} for no key update
    `;
    if (before === undefined) throw new AppError('run_not_found');
    assertEndedWithContent(before);
    const run = await tx.row<Run>`
      update runs set verdict = jsonb_build_object('useful', ${useful}::boolean, 'note', ${note}::text,
        'by', ${by.id}::text, 'at', now())
      where id = ${id} and project_id = ${projectId}
      returning ${runColumns}
    `;
    if (run === undefined) throw new AppError('run_not_found');
    const details = { routineId: run.routineId, useful };
    await recordProjectAudit(tx, { by, projectId, action: 'run.judged', targetId: id, details });
    return run;
  });
}
