import { enqueueDelivery, type PendingDelivery } from '#core/webhooks/index.ts';
import { empty, row, sql, type Db, type Sql } from '#lib/database/index.ts';
import { newTotals, stepOfLive, type ModelStepRecord } from './record-step.ts';
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
        update runs set ${finalState(ending, messageOf(runId, ending))}
        where id = ${runId} and state = any(${statesBefore(ending.state)})
        returning *
      ), ${routineOfEnded(ending.state)}${closeSteps(ending)}
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

/**
 * Records the last step of a run and its success in one statement, which is all that most runs need. It does nothing
 * where that is not all: where the step has been recorded or the run has ended, or its end is to be delivered.
 * @returns whether it did
 */
export async function recordSuccess(
  db: Db,
  record: ModelStepRecord,
  ending: RunEnding & { readonly state: 'succeeded' },
): Promise<boolean> {
  const ended = await row(
    db,
    sql`
      with live as (
        select id from runs where id = ${record.runId} and state = 'running' and not exists (
          select 1 from routines r where r.id = runs.routine_id
            and r.webhook_url is not null and r.webhook_failed_at is null)
        for update
      ), ${stepOfLive(record)}, ended as (
        update runs set ${newTotals(record)}, ${finalState(ending, sql`${ending.errorMessage}`)}
        from step where runs.id = step.run_id
        returning runs.*
      ), ${routineOfEnded(ending.state)}
      select ended.id from ended, routine
    `,
  );
  return ended !== undefined;
}

/** The end of a run, as the assignments of an update. */
function finalState({ state, reason, result }: RunEnding, errorMessage: Sql): Sql {
  return sql`state = ${state}, reason = ${reason}, error_message = ${errorMessage},
          result = coalesce(${result}, result), finished_at = now()`;
}

/** What the end of the run in a statement's `ended` means for its routine, as the common table expression `routine`. */
function routineOfEnded(state: EndState): Sql {
  return sql`routine as (
        update routines r set
          last_run_at = now(),
          consecutive_failures = ${failuresAfter(state)},
          state = case when ${pauses(state)} then 'paused' else r.state end,
          state_reason = case when ${pauses(state)}
            then 'paused after ' || r.pause_after_failures || ' failed runs in a row' else r.state_reason end,
          next_run_at = case when ${pauses(state)} then null else r.next_run_at end,
          version = case when ${pauses(state)} then r.version + 1 else r.version end
        from ended where r.id = ended.routine_id
        returning r.webhook_url, r.webhook_failed_at
      )`;
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
