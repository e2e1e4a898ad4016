import { empty, sql, type Db, type Sql } from '#lib/database/index.ts';
import { totalTokens, type Usage } from '#core/foundation/cost/index.ts';
import { addToTotals, today } from './budget.ts';

/** One attempt at a model step. */
export interface Attempt {
  readonly runId: string;
  readonly index: number;
  readonly attempt: number;
}

/** Usage of one attempt at a step. */
export interface Spent extends Attempt {
  readonly usage: Usage;
  readonly costUsd: string | null;
}

/** SQL condition: the attempt is in the ledger. */
export function isSettled({ runId, index, attempt }: Attempt): Sql {
  return sql`exists (select from usage_ledger
          where run_id = ${runId} and step_index = ${index} and attempt = ${attempt})`;
}

/**
 * Returns the common table expressions that settle an attempt at a model step, for the statement that records it:
 * `ledger`, `released`, `totals` and `settled`. Each expression waits for the previous one, so that locks are taken in
 * one order everywhere: run, step, reservation, totals, day, routine. `settled` has one row, for later expressions to
 * wait for.
 * @param step relation with `run_id`, `index`, `organization_id`, `project_id`, `routine_id`, `model_id` and
 * `new_steps`, which is 0 when another attempt has counted the step. If the relation is empty, or the attempt is in the
 * ledger already, nothing is settled.
 */
export function settlement(step: Sql, { attempt, usage, costUsd }: Spent): Sql {
  const tokens = totalTokens(usage);
  return sql`ledger as (
        insert into usage_ledger
          (run_id, step_index, attempt, project_id, routine_id, model_id, total_tokens, cost_usd, occurred_at)
        select run_id, index, ${attempt}, project_id, routine_id, model_id, ${tokens}, ${costUsd}::numeric, now()
        from ${step} step
        on conflict do nothing
        returning run_id, step_index, attempt
      ), released as (
        delete from usage_reservations r using ledger
        where r.run_id = ledger.run_id and r.step_index = ledger.step_index and r.attempt = ledger.attempt
        returning r.tokens, r.cost_usd
      ), totals as (
        ${addToTotals(sql`(
          select scope_id, ${tokens}::bigint as tokens, coalesce(${costUsd}::numeric, 0) as cost_usd,
            -coalesce(released.tokens, 0) as reserved_tokens, -coalesce(released.cost_usd, 0) as reserved_cost_usd
          from ${step} step join ledger on true left join released on true,
            unnest(array[organization_id, project_id, routine_id]) as scope_id
        )`)}
      ), days as (
        insert into usage_days as d (project_id, day, routine_id, model_id, input_tokens, cached_input_tokens,
          output_tokens, reasoning_tokens, cost_usd, steps)
        select project_id, ${today}, routine_id, model_id, ${usage.inputTokens}, ${usage.cachedInputTokens},
          ${usage.outputTokens}, ${usage.reasoningTokens}, ${costUsd}::numeric, new_steps
        from ${step} step, (select count(*) as scopes from totals) locked where scopes > 0
        ${addedToDay}
        returning steps
      ), settled as (
        select count(*) as days from days
      )`;
}

/** Adds an insert into `usage_days d` to the row of that day. */
export const addedToDay = sql`on conflict (project_id, day, routine_id, model_id) do update set
          input_tokens = d.input_tokens + excluded.input_tokens,
          cached_input_tokens = d.cached_input_tokens + excluded.cached_input_tokens,
          output_tokens = d.output_tokens + excluded.output_tokens,
          reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens,
          cost_usd = case when excluded.cost_usd is null then d.cost_usd
            else coalesce(d.cost_usd, 0) + excluded.cost_usd end,
          steps = d.steps + excluded.steps`;

/** Releases the reservation of an attempt whose call cannot be settled, or is settled under another attempt. */
export async function releaseAttempt(db: Db, { runId, index, attempt }: Attempt): Promise<void> {
  await db.run`
    with released as (
      delete from usage_reservations
      where run_id = ${runId} and step_index = ${index} and attempt = ${attempt}
      returning scope_ids, tokens, cost_usd
    )
    ${addToTotals(sql`(
      select scope_id, 0::bigint as tokens, 0::numeric as cost_usd, -released.tokens as reserved_tokens,
        -released.cost_usd as reserved_cost_usd
      from released, unnest(scope_ids) as scope_id
    )`)}
  `;
}

/** A lost call, with the input tokens to count for it. */
interface LostCall {
  /** Key in the ledger, with the negated attempt, so that a late response of the call can still be counted. */
  readonly key: Attempt;
  /** Input tokens to count; null if nothing is counted for the call. */
  readonly inputTokens: number | null;
  /** Cost in US dollars; null for a model without prices. */
  readonly costUsd: string | null;
}

/**
 * Finds calls whose reservation has outlived its lease, the oldest first. Their process died before it could settle
 * them, and the calls have certainly ended.
 * @param limit the most calls to find
 * @param scopeIds routine, project or organization to look in; all when left out
 */
export function findLostCalls(db: Db, limit: number, scopeIds?: readonly string[]): Promise<Attempt[]> {
  return db.rows`
    select run_id as "runId", step_index as index, attempt from usage_reservations
    where leased_until <= now() ${scopeIds === undefined ? empty : sql`and scope_ids && ${scopeIds}`}
    order by leased_until limit ${limit}
  `;
}

/** Locks the reservation of a lost call and returns what the call has sent; undefined when it was settled meanwhile. */
export async function lockLostCall(tx: Db, { runId, index, attempt }: Attempt): Promise<LostCall | undefined> {
  const sent = await tx.row<Omit<LostCall, 'key'>>`
    select input_tokens as "inputTokens", input_cost_usd as "costUsd" from usage_reservations
    where run_id = ${runId} and step_index = ${index} and attempt = ${attempt}
    for update
  `;
  return sent === undefined ? undefined : { ...sent, key: { runId, index, attempt: -attempt } };
}
