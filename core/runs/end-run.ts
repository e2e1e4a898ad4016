import { enqueueDelivery, type PendingDelivery } from '#core/webhooks/index.ts';
import { empty, row, sql, type Db, type Sql } from '#lib/database/index.ts';
import { RUN_REASONS, statesBefore, type EndState, type RunReason } from './states.ts';

export interface RunEnding {
  readonly state: EndState;
  readonly reason: RunReason | null;
  readonly errorMessage: string | null;
  readonly result: string | null;
}

/** A failure in the words of its reason, or in more exact ones. */
export function failure(reason: RunReason, message?: string): RunEnding {
  const sentence = RUN_REASONS[reason];
  const errorMessage = message ?? `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
  return { state: 'failed', reason, errorMessage, result: null };
}

export const cancellation: RunEnding = {
  state: 'cancelled',
  reason: 'cancelled',
  errorMessage: null,
  result: null,
};

export interface EndedRunRow {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly trigger: 'schedule' | 'manual';
  readonly state: EndState;
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly result: string | null;
  readonly scheduledFor: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly costUsd: string | null;
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
}

/**
 * The one place where a run ends. In the caller's transaction: the run's final state, what it means for its routine
 * (last run, failures in a row, the pause after too many) and the webhook delivery. A run that has ended already
 * stays as it is.
 * @returns whether this call ended it, and the delivery to send when there is one
 */
export async function endRun(
  tx: Db,
  runId: string,
  ending: RunEnding,
): Promise<{ ended: boolean; delivery: PendingDelivery | undefined }> {
  const ended = await row<EndedRunRow>(
    tx,
    sql`
      with ended as (
        update runs set state = ${ending.state}, reason = ${ending.reason},
          error_message = ${messageOf(runId, ending)}, result = coalesce(${ending.result}, result), finished_at = now()
        where id = ${runId} and state = any(${statesBefore(ending.state)})
        returning *
      ), routine as (
        update routines r set
          last_run_at = now(),
          consecutive_failures = ${failuresAfter(ending.state)},
          state = case when ${pauses(ending.state)} then 'paused' else r.state end,
          state_reason = case when ${pauses(ending.state)}
            then 'paused after ' || r.pause_after_failures || ' failed runs in a row' else r.state_reason end,
          next_run_at = case when ${pauses(ending.state)} then null else r.next_run_at end,
          version = case when ${pauses(ending.state)} then r.version + 1 else r.version end
        from ended where r.id = ended.routine_id
        returning r.webhook_url, r.webhook_failed_at
      )${closeSteps(ending)}
      select id, project_id as "projectId", routine_id as "routineId", trigger, state, reason,
        error_message as "errorMessage", result, scheduled_for as "scheduledFor", created_at as "createdAt",
        started_at as "startedAt", finished_at as "finishedAt", input_tokens as "inputTokens",
        cached_input_tokens as "cachedInputTokens", output_tokens as "outputTokens",
        reasoning_tokens as "reasoningTokens", trim_scale(cost_usd)::text as "costUsd",
        routine.webhook_url as "webhookUrl", routine.webhook_failed_at as "webhookFailedAt"
      from ended, routine
    `,
  );
  if (ended === undefined) return { ended: false, delivery: undefined };
  return { ended: true, delivery: await enqueueDelivery(tx, ended) };
}

/** Where the model failed, the words of its last attempt: they say more than the reason does. */
function messageOf(runId: string, ending: RunEnding): Sql {
  if (ending.reason?.startsWith('model_') !== true) return sql`${ending.errorMessage}`;
  return sql`coalesce((select error_message from steps where run_id = ${runId} and state = 'started'
            order by index desc limit 1), ${ending.errorMessage})`;
}

/** A step that was under way when its run ended badly ends with it; a run that succeeds leaves none behind. */
function closeSteps(ending: RunEnding): Sql {
  if (ending.state === 'succeeded') return empty;
  return sql`, closed as (
        update steps set finished_at = now(),
          state = case when kind = 'tool' and steps.state = 'started' then 'outcome_unknown' else 'failed' end,
          error_message = coalesce(steps.error_message, ${ending.errorMessage ?? 'The run was cancelled.'})
        from ended where steps.run_id = ended.id and steps.state in ('pending', 'started')
      )`;
}

/** Failures in a row of scheduled runs; a person's own attempts neither count nor clear. */
function failuresAfter(state: EndState) {
  const outcome =
    state === 'failed'
      ? sql`r.consecutive_failures + 1`
      : state === 'succeeded'
        ? sql`0`
        : sql`r.consecutive_failures`;
  return sql`case when ended.trigger = 'schedule' then ${outcome} else r.consecutive_failures end`;
}

function pauses(state: EndState) {
  return state === 'failed'
    ? sql`(ended.trigger = 'schedule' and r.state = 'active' and r.consecutive_failures + 1 >= r.pause_after_failures)`
    : sql`false`;
}
