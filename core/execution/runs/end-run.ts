import type { Core } from '#core/core.ts';
import { callsOfRunOver } from '#core/models/calls/index.ts';
import { notifyRunEnded, subscriptionOf, type Subscription } from '#core/delivery/notifications/index.ts';
import { routineAfterRun } from '#core/authoring/routines/index.ts';
import type { StartableDelivery } from '#core/foundation/engine/index.ts';
import { enqueueDelivery, kickDeliveries, redeliver, type EndedRun } from '#core/delivery/webhooks/index.ts';
import { sql, storableJson, transaction, type Db, type Sql } from '#lib/database/index.ts';
import { othersWait, type Admission } from '#core/execution/admission/index.ts';
import { breakerAfterRun } from '#core/execution/breaker/index.ts';
import {
  reasonAsMessage,
  reasonInWords,
  replacement,
  skip,
  type RunEnding,
  countsTowardsPause,
  runStatesBefore,
  type RunReason,
} from '#core/execution/run-states/index.ts';
import { scheduledFor, runOutcome, type RunDetail } from './run.ts';
import { recordResult, type JustEnded } from './result.ts';
import { followPause } from './unwanted.ts';
import { readRunDetail } from './queries.ts';

export interface AfterEndDeps extends Pick<Core, 'database' | 'engine' | 'log' | 'metrics'> {
  readonly admission: Admission;
}

/** The end of a run that has just been recorded. */
export interface RecordedEnd {
  readonly runId: string;
  readonly ending: RunEnding;
  /** Webhook deliveries that report it; none unless the routine has a webhook. */
  readonly deliveries: readonly StartableDelivery[];
  /** Queued runs of its routine that are skipped, as its failure has paused it. */
  readonly skipped: readonly string[];
  /** True when other runs wait to be admitted, now that this one has made room. */
  readonly othersWait: boolean;
}

/**
 * Ends a run in a transaction of its own and does what follows. A run that has ended already stays as it is. The run is
 * locked first, so that the statement which ends it sees every step recorded by then. What a running call has reserved
 * stays reserved, as its response may still come.
 */
export async function endRun(
  deps: AfterEndDeps,
  runId: string,
  ending: RunEnding,
  follow?: { readonly kicks: boolean },
): Promise<void> {
  const end = await transaction(deps.database, async (tx) => {
    await tx.row`select id from runs where id = ${runId} for no key update`;
    return recordEnd(tx, runId, ending);
  });
  if (end !== undefined) await afterEnd(deps, end, follow);
}

/**
 * Records the end of a run in the caller's transaction: the run's final state, its routine's (last run, failures in a
 * row, the pause after too many), the breaker of its model account, the steps that were under way and their calls on an
 * account, the webhook deliveries, and the mails and pings to its subscribers. Its statement is `ended`, `calls` of
 * model connections, `routine` of routines, `breaker`, `closed`. When a model failed, the error
 * of its last attempt becomes the run's error message, because it says more than the reason does. The caller calls
 * `afterEnd` when the transaction is committed, and has locked the run with an earlier statement of it.
 * @returns undefined when the run had ended before; nothing is changed then
 */
export async function recordEnd(tx: Db, runId: string, ending: RunEnding): Promise<RecordedEnd | undefined> {
  const { state, reason, errorMessage, result, warnings = [] } = ending;
  // The failed attempt says more than the reason does; a step that was never sent has words of its own.
  const modelFailed =
    reason?.startsWith('model_') === true ||
    (reason === 'context_exceeded' && errorMessage === reasonAsMessage(reason));
  const ended = await tx.row<EndedRow>`
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
    ), ${routineAfterRun({ state, ownFault: countsTowardsPause(reason), isWhole: warnings.length === 0, next: ending.outcome === 'partial' ? undefined : ending.next })}, ${breakerAfterRun(ending)}, closed as (
      update steps set finished_at = now(),
        state = case when kind = 'tool' and steps.state = 'started' then 'outcome_unknown' else 'failed' end,
        error_message = coalesce(steps.error_message,
        ${state === 'cancelled' ? 'The run was cancelled.' : errorMessage})
      from ended
      where steps.run_id = ${runId} and steps.run_id = ended.id and steps.state in ('pending', 'started')
      and ended.state <> 'succeeded'
    )
    select id, project_id as "projectId", routine_id as "routineId", trigger, state, reason,
      error_message as "errorMessage", result, ${runOutcome}, ${scheduledFor(sql`ended`)} as "scheduledFor",
      created_at as "createdAt",
      started_at as "startedAt", finished_at as "finishedAt", input_tokens as "inputTokens",
      cached_input_tokens as "cachedInputTokens", output_tokens as "outputTokens",
      reasoning_tokens as "reasoningTokens", trim_scale(cost_usd)::text as "costUsd",
      estimated_usage as "estimatedUsage",
      routine.webhook_url as "webhookUrl", routine.webhook_failed_at as "webhookFailedAt", routine.deliver,
      routine.name as "routineName", routine.paused, routine.state_reason as "stateReason",
      ${othersWait} as "othersWait", ${subscriptionOf(sql`ended.routine_id`)} as subscription
    from ended, routine
  `;
  if (ended === undefined) return undefined;
  const { deliveries, skipped } =
    state === 'skipped' ? { deliveries: [], skipped: [] } : await enqueueEvents(tx, ended, ending);
  if (state !== 'skipped' && ended.subscription !== null) {
    await notifyRunEnded(
      tx,
      {
        id: runId,
        state,
        reason: ended.reason,
        outcome: ended.outcome,
        warnings,
        reasonInWords: ended.reason === null ? null : reasonInWords(ended.reason),
        pausedBecause: ended.paused ? ended.stateReason : null,
        passedLimit: ending.passedLimit,
      },
      ended.subscription,
    );
  }
  return {
    runId,
    ending: { ...ending, reason: ended.reason },
    deliveries,
    skipped,
    othersWait: ended.othersWait,
  };
}

/**
 * Does everything that follows the end of a run, once the end is committed: counts the run, admits the next one
 * and starts the webhook deliveries. Never throws: a tick starts what cannot be started now.
 * @param follow.kicks false where the caller ends several runs and calls `kickDeliveries` once
 */
export async function afterEnd(
  deps: AfterEndDeps,
  end: RecordedEnd,
  { kicks = true }: { readonly kicks?: boolean } = {},
): Promise<void> {
  const { state, reason, failureClass } = end.ending;
  deps.metrics.runEnded({ state, reason, failureClass });
  for (const _ of end.skipped) deps.metrics.runEnded(skip('paused'));
  if (failureClass === 'platform') {
    deps.log.error({ runId: end.runId, reason }, 'a run failed because of the service itself');
  }
  if (end.othersWait) deps.admission.nudge();
  if (kicks && end.deliveries.length > 0) await kickDeliveries(deps);
}

/**
 * Returns the reason with which a run ends, as an SQL expression on `runs`. One that was cancelled ends for the reason
 * of the request, which the code that carries it out need not know.
 */
function reasonAtEnd({ state, reason }: Pick<RunEnding, 'state' | 'reason'>): Sql {
  return state === 'cancelled' ? sql`coalesce(runs.cancel_reason, ${reason})` : sql`${reason}::text`;
}

/** Returns the error message with which a run ends, as an SQL expression on `runs`; it goes with the reason. */
function messageAtEnd({ state, errorMessage }: RunEnding): Sql {
  return state === 'cancelled'
    ? sql`case runs.cancel_reason when ${replacement.reason} then ${replacement.errorMessage}
            else ${errorMessage} end`
    : sql`${errorMessage}::text`;
}

/** Writes the outcome of a run: assignments for the update of `runs` that ends it. */
export function outcomeOf({ state, outcome, outcomeSummary, checks, warnings = [] }: RunEnding): Sql {
  return sql`outcome = ${state === 'succeeded' ? (outcome ?? 'done') : null},
    outcome_summary = ${outcomeSummary ?? null},
          checks = ${checks === undefined ? null : storableJson(checks)}::jsonb, warnings = ${warnings}::text[]`;
}

async function enqueueEvents(
  tx: Db,
  ended: EndedRow,
  { data }: RunEnding,
): Promise<Pick<RecordedEnd, 'deliveries' | 'skipped'>> {
  const { changes, withheld } = await recordResult(tx, ended, data);
  const event = { ...ended, data: data?.value ?? null, changes };
  const ofRun = withheld === null ? await enqueueDelivery(tx, event) : undefined;
  const deliveries = ofRun === undefined ? [] : [ofRun];
  if (!ended.paused) return { deliveries, skipped: [] };
  const paused = {
    id: ended.routineId,
    projectId: ended.projectId,
    name: ended.routineName,
    stateReason: ended.stateReason ?? '',
    pausedAt: ended.finishedAt,
    webhookUrl: ended.webhookUrl,
    webhookFailedAt: ended.webhookFailedAt,
  };
  const ofPause = await followPause(tx, [paused], new Map([[paused.id, ended.id]]));
  return { deliveries: [...deliveries, ...ofPause.deliveries], skipped: ofPause.skipped };
}

interface EndedRow
  extends Omit<EndedRun, 'data' | 'changes' | 'reason'>, Pick<JustEnded, 'webhookUrl' | 'webhookFailedAt' | 'deliver'> {
  readonly reason: RunReason | null;
  readonly routineName: string;
  /** True when this run made the service pause its routine. */
  readonly paused: boolean;
  readonly stateReason: string | null;
  readonly othersWait: boolean;
  readonly subscription: Subscription | null;
}

export interface RedeliverDeps extends Pick<Core, 'database' | 'engine' | 'log'> {
  readonly admission: Pick<Admission, 'rule'>;
}

/**
 * Sends a webhook delivery of a run again.
 * @returns the run, with the delivery pending
 * @throws {AppError} `run_not_found`, `delivery_not_found`, `content_erased`, `routine_archived`
 */
export async function redeliverWebhook(
  deps: RedeliverDeps,
  input: { projectId: string; runId: string; deliveryId: string },
): Promise<RunDetail> {
  await redeliver(deps.database, input);
  await kickDeliveries(deps);
  return readRunDetail(deps, input.projectId, input.runId);
}
