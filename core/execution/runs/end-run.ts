import type { Core } from '#core/core.ts';
import { callsOfRunOver } from '#core/models/calls/index.ts';
import { noteEnd } from '#core/delivery/notifications/index.ts';
import { routineAfterRun } from '#core/authoring/routines/index.ts';
import {
  areNone,
  compareWith,
  NO_CHANGES,
  type ComparedResult,
  type DeliveredData,
} from '#core/authoring/outcomes/index.ts';
import { enqueueDelivery, hasLostDelivery, type ReportedRun } from '#core/delivery/webhooks/index.ts';
import { afterCommit, sql, storableJson, transaction, type Db, type Sql } from '#lib/database/index.ts';
import { othersWait, type Admission } from '#core/execution/admission/index.ts';
import { breakerAfterRun } from '#core/execution/breaker/index.ts';
import {
  reasonAsMessage,
  RUN_REASONS,
  replacement,
  type RunEnding,
  countsTowardsPause,
  runStatesBefore,
  type ResultData,
  type RunReason,
  type Withheld,
} from '#core/execution/run-states/index.ts';
import { scheduledFor, runOutcome } from './run.ts';
import { followPauses } from './unwanted.ts';

export interface EndDeps extends Pick<Core, 'database' | 'engine' | 'log' | 'metrics' | 'work'> {
  readonly admission: Pick<Admission, 'nudge' | 'rule'>;
}

/**
 * Ends a run in a new transaction. An ended run stays unchanged. The run is locked first, so that the statement which
 * ends it sees every step recorded by then. Reservations of a running call stay, because its response may still come.
 */
export async function endRun(deps: EndDeps, runId: string, ending: RunEnding): Promise<void> {
  await transaction(deps.database, async (tx) => {
    await tx.row`select id from runs where id = ${runId} for no key update`;
    await recordEnd(deps, tx, runId, ending);
  });
}

/**
 * Records the end of a run in the caller's transaction: the run's final state, the state of its routine (last run,
 * failures in a row, the pause after too many), the breaker of its model account, its open steps and their calls on an
 * account, the work of mailing its subscribers, and the webhook deliveries. Its statement has the CTEs `ended`, `calls`
 * (from model connections), `routine` (from routines), `breaker`, `follower`, `turned` and `news` (from notifications),
 * and `closed`. When a model failed, the error of its last attempt becomes the run's error message, because it says
 * more than the reason does. The caller has locked the run with an earlier statement of the transaction; further
 * consequences follow after the commit.
 * @returns undefined when the run had ended before; nothing is changed then
 */
export async function recordEnd(
  deps: EndDeps,
  tx: Db,
  runId: string,
  ending: RunEnding,
): Promise<EndedRun | undefined> {
  const { state, reason, errorMessage, result } = ending;
  // Prefer the error of the failed attempt, which is more exact. Keep the message of a step that was never sent.
  const modelFailed =
    reason?.startsWith('model_') === true ||
    (reason === 'context_exceeded' && errorMessage === reasonAsMessage(reason));
  const told = { ...ending, reasonInWords: reason === null ? null : RUN_REASONS[reason] };
  const ended = await tx.row<EndedRun>`
    with ended as (
      update runs set state = ${state}, reason = ${reasonAtEnd(ending)}, result = coalesce(${result}, result),
        ${outcomeOf(ending)},
        error_message = coalesce((
          select s.error_message from steps s
          where s.run_id = runs.id and s.state = 'started' and ${modelFailed}
          order by s.index desc limit 1
        ), ${messageAtEnd(ending)}),
        finished_at = now()
      where id = ${runId} and state = any(${runStatesBefore(state, reason)})
      returning *
    ), calls as (
      ${callsOfRunOver(sql`ended`)}
    ), ${routineAfterRun({ ...ending, ownFault: countsTowardsPause(reason) })},
    ${breakerAfterRun(ending)}, ${noteEnd(told)}, closed as (
      update steps set finished_at = now(),
        state = case when kind = 'tool' and steps.state = 'started' then 'outcome_unknown' else 'failed' end,
        error_message = coalesce(steps.error_message,
        ${state === 'cancelled' ? 'The run was cancelled.' : errorMessage})
      from ended
      where steps.run_id = ${runId} and steps.run_id = ended.id and steps.state in ('pending', 'started')
      and ended.state <> 'succeeded'
    )
    select ${endedColumns} from ended, routine
  `;
  if (ended !== undefined) await followEnd(deps, tx, ended, ending);
  return ended;
}

/** Columns of `EndedRun`, selected from `ended` and `routine` of a statement that also has the CTE `news`. */
export const endedColumns = sql`id, project_id as "projectId", routine_id as "routineId", trigger, state, reason,
  error_message as "errorMessage", result, ${runOutcome}, ${scheduledFor(sql`ended`)} as "scheduledFor",
  created_at as "createdAt",
  started_at as "startedAt", finished_at as "finishedAt", input_tokens as "inputTokens",
  cached_input_tokens as "cachedInputTokens", output_tokens as "outputTokens",
  reasoning_tokens as "reasoningTokens", trim_scale(cost_usd)::text as "costUsd",
  estimated_usage as "estimatedUsage",
  routine.webhook_url as "webhookUrl", routine.webhook_failed_at as "webhookFailedAt", routine.deliver,
  routine.name as "routineName", routine.paused, routine.state_reason as "stateReason",
  ${othersWait} as "othersWait", exists (select from news) as "isFollowed", routine_revision < 0 as "isProposed"`;

/**
 * Records the consequences of a run's end in the caller's transaction. After the commit, counts the run in the metrics,
 * admits the next run, and starts the mails about the end; a tick completes the rest.
 * @param db the transaction; if the run has neither data nor a webhook and pauses nothing, nothing is written and `db`
 * need not be a transaction
 */
export async function followEnd(deps: EndDeps, db: Db, ended: EndedRun, ending: RunEnding): Promise<void> {
  const { metrics, log, admission, work } = deps;
  const { state, failureClass } = ending;
  if (state !== 'skipped') await recordConsequences(deps, db, ended, ending);
  afterCommit(db, () => {
    const { id: runId, reason } = ended;
    metrics.runEnded({ state, reason, failureClass });
    if (failureClass === 'platform') log.error({ runId, reason }, 'a run failed because of the service itself');
    if (ended.othersWait) admission.nudge();
    if (ended.isFollowed) work.nudge('run_ended');
    if (ended.isProposed) work.nudge('proposals');
  });
}

/** Returns the reason of the end. A cancelled run takes the reason of the request that cancelled it. */
function reasonAtEnd({ state, reason }: Pick<RunEnding, 'state' | 'reason'>): Sql {
  return state === 'cancelled' ? sql`coalesce(runs.cancel_reason, ${reason})` : sql`${reason}::text`;
}

function messageAtEnd({ state, errorMessage }: RunEnding): Sql {
  return state === 'cancelled'
    ? sql`case runs.cancel_reason when ${replacement.reason} then ${replacement.errorMessage}
            else ${errorMessage} end`
    : sql`${errorMessage}::text`;
}

/** Writes the outcome of a run: assignments for the update of `runs` that ends it. */
export function outcomeOf({ state, outcome, outcomeSummary, urgency, checks, warnings = [] }: RunEnding): Sql {
  return sql`outcome = ${state === 'succeeded' ? (outcome ?? 'done') : null},
    outcome_summary = ${outcomeSummary ?? null}, urgency = ${urgency ?? null},
          checks = ${checks === undefined ? null : storableJson(checks)}::jsonb, warnings = ${warnings}::text[]`;
}

/**
 * Records the data of an ended run, queues its webhook delivery, and reports the pause of the routine if the run caused
 * one.
 */
async function recordConsequences(deps: EndDeps, tx: Db, ended: EndedRun, { data }: RunEnding): Promise<void> {
  const { changes, withheld } = await recordResult(tx, ended, data);
  if (withheld === null) await enqueueDelivery(deps, tx, { ...ended, data: data?.value ?? null, changes });
  if (!ended.paused) return;
  const paused = {
    id: ended.routineId,
    projectId: ended.projectId,
    name: ended.routineName,
    stateReason: ended.stateReason ?? '',
    pausedAt: ended.finishedAt,
    webhookUrl: ended.webhookUrl,
    webhookFailedAt: ended.webhookFailedAt,
  };
  await followPauses(deps, tx, [paused], new Map([[paused.id, ended.id]]));
}

/** A run that the transaction has just ended, with fields of its routine. The row of the routine is locked. */
export interface EndedRun extends Omit<ReportedRun, 'data' | 'changes' | 'reason'> {
  readonly reason: RunReason | null;
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
  readonly routineName: string;
  /** True when this run made the service pause its routine. */
  readonly paused: boolean;
  readonly stateReason: string | null;
  /** True when other runs wait to be admitted, now that this run has made room. */
  readonly othersWait: boolean;
  /** True when people or a monitor get news of the end. */
  readonly isFollowed: boolean;
  /** True for a run that tries a proposal. */
  readonly isProposed: boolean;
}

/**
 * Records the data of a run that has just ended, its changes since the last delivered data, and whether the webhook
 * gets an event. Costs nothing when there is no data and the routine delivers everything.
 */
async function recordResult(
  tx: Db,
  run: EndedRun,
  result: ResultData | undefined,
): Promise<{ readonly changes: ComparedResult | null; readonly withheld: Withheld | null }> {
  const hasWebhook = run.webhookUrl !== null && run.webhookFailedAt === null;
  if (result === undefined) {
    const withheld = hasWebhook ? withheldBy(run, null) : null;
    if (withheld !== null) await tx.run`update runs set withheld = ${withheld} where id = ${run.id}`;
    return { changes: null, withheld };
  }
  const delivered = await findDelivered(tx, run, hasWebhook && run.deliver !== 'failed');
  const changes = compareWith(delivered, result.value, result.by);
  const withheld = hasWebhook ? withheldBy(run, changes) : 'no_webhook';
  const { against, unchangedRuns, ...kept } = changes;
  // Use the clock's time, not `now()`, the beginning of the transaction: the transaction may have waited for the lock
  // on the routine since.
  await tx.run`
    update runs set data = ${storableJson(result.value)}::jsonb, changes = ${storableJson(kept)}::jsonb,
      compared_with = ${against}, compared_at = clock_timestamp(), unchanged_runs = ${unchangedRuns},
      withheld = ${withheld}
    where id = ${run.id}
  `;
  return { changes, withheld };
}

/** Returns the reason for withholding an event, or null. Failures are sent, so that silence never means a failure. */
function withheldBy({ deliver, trigger, state, outcome }: EndedRun, changes: ComparedResult | null): Withheld | null {
  if (trigger === 'follow_up' || trigger === 'rehearsal') return trigger;
  if (deliver === 'always' || state === 'failed') return null;
  if (deliver === 'failed') return 'not_failed';
  if (state === 'cancelled') return 'no_change';
  if (changes === null && outcome === 'nothing_to_report') return 'no_change';
  // Withhold nothing: data that an earlier version of the routine did not ask for cannot be compared.
  if (changes === null || changes.against === null) return null;
  return areNone(changes) ? 'no_change' : null;
}

/** Number of runs searched. If the receiver has missed more consecutive deliveries, everything counts as new again. */
const MAX_LOOKED_AT = 200;

/**
 * Finds the last delivered data. A run does not count when its delivery was given up or nothing was to be delivered.
 * For a run without a change, finds the run that it was compared with: the data is the same and is kept longer.
 * @param delivers whether the webhook gets results; if it does not, every run counts as delivered
 */
function findDelivered(tx: Db, run: EndedRun, delivers: boolean): Promise<DeliveredData | undefined> {
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
    where not ${delivers}::boolean or (
      (withheld is null or withheld = 'no_change') and not ${hasLostDelivery(sql`anchor`)})
    order by compared_at desc limit 1
  `;
}
