import { z } from 'zod';
import { RUN_WARNINGS, type RunWarning } from '#core/authoring/outcomes/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { addWork } from '#core/foundation/work/index.ts';
import type { PassedLimit } from '#core/usage/index.ts';
import { AT_ONCE, sql, type Sql } from '#lib/database/index.ts';
import { followsSuccess, hasSubscription } from './subscription.ts';

/** The fields of an ending that the mails need. */
interface Ending {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'skipped';
  readonly reasonInWords: string | null;
  readonly warnings?: readonly RunWarning[] | undefined;
  readonly passedLimit?: PassedLimit | undefined;
}

/**
 * Returns the CTEs that record the end of a run for the mails about its routine: `follower`, `turned` and `news`. These
 * CTEs read the CTEs `ended` and `routine`, three rows by their keys, and, for an organization with a budget, its
 * projects. This statement also records whether the routine fails, because it sees the ends of runs in their order. The
 * work `run_ended` writes the mails later.
 */
export function noteEnd({ state, reasonInWords, warnings = [], passedLimit }: Ending): Sql {
  const isWhole = state === 'succeeded' && warnings.length === 0;
  const turned =
    state === 'failed'
      ? sql`insert into notification_states as s (routine_id, failing)
          select routine_id, true from follower where has_mail and not answers
          on conflict (routine_id) do update set failing = true where not s.failing returning routine_id`
      : isWhole
        ? sql`update notification_states s set failing = false from follower
          where s.routine_id = follower.routine_id and has_mail and not answers and s.failing returning s.routine_id`
        : sql`select where false`;
  return sql`follower as (
      select ended.id, not ${isWork(sql`ended.trigger`)} as answers, ended.routine_id, ended.state, ended.reason,
        ended.outcome, ended.warnings,
        p.organization_id, coalesce(r.notify_mail, p.notify_mail) is not null as has_mail,
        ended.state <> 'succeeded' or routine.paused or ${followsSuccess} as is_news,
        case when routine.paused then routine.state_reason end as paused_because
      from ended, routine, routines r join projects p on p.id = r.project_id
      join organizations o on o.id = p.organization_id
      where r.id = ended.routine_id and ended.state <> 'skipped' and ${hasSubscription}
    ), turned as (
      ${turned}
    ), news as (
      ${addWork(sql`select 'run_ended', id, organization_id, ${AT_ONCE}, jsonb_build_object('routineId', routine_id,
        'state', state, 'reason', reason, 'outcome', outcome, 'warnings', warnings,
        'reasonInWords', ${reasonInWords}::text, 'answers', answers, 'pausedBecause', paused_because,
        'recovered', ${isWhole}::boolean and exists (select from turned),
        'passedLimit', ${JSON.stringify(passedLimit ?? null)}::jsonb) from follower where is_news`)}
    )`;
}

/** Payload of `run_ended`. */
export const endedRun = z.object({
  routineId: z.string(),
  state: z.enum(['succeeded', 'failed', 'cancelled']),
  reason: z.string().nullable(),
  /** Outcome of a run that succeeded; null for every other run. */
  outcome: z.string().nullable(),
  /** Warnings of a run that succeeded. */
  warnings: z.array(z.custom<RunWarning>((each) => typeof each === 'string' && each in RUN_WARNINGS)),
  /** The reason as a sentence of the closed list, without words of a model, a tool or a provider. */
  reasonInWords: z.string().nullable(),
  /** The reason for which the service paused the routine because of this run; null without a pause. */
  pausedBecause: z.string().nullable(),
  /** True for the first success after failures. */
  recovered: z.boolean(),
  /** True for a follow-up or a rehearsal: mails report the spending of such a run, but not its end. */
  answers: z.boolean().default(false),
  /** The budget that left too little for the next step; null without such a budget, or when it is unknown. */
  passedLimit: z.object({ scope: z.string(), name: z.string() }).nullable(),
});
export type ToldRun = z.output<typeof endedRun>;

/**
 * Body of a common table expression that queues a check of the budgets after a step, because the run may last long.
 * @param step relation with `run_id`, `index`, `routine_id`
 */
export function noteSpending(step: Sql): Sql {
  return addWork(sql`select 'spending', step.run_id || ':' || step.index, o.id, ${AT_ONCE},
        jsonb_build_object('runId', step.run_id, 'routineId', step.routine_id)
      from ${step} step join routines r on r.id = step.routine_id join projects p on p.id = r.project_id
      join organizations o on o.id = p.organization_id where ${hasSubscription}`);
}

/** Payload of `spending`. */
export const spender = z.object({ runId: z.string(), routineId: z.string() });
