import { sql, type Sql } from '#lib/database/index.ts';
import { addToTotals, today } from './totals.ts';
import { totalTokens, type Usage } from './usage.ts';

/**
 * Settles a model step, as common table expressions of the statement that records it: `ledger`, `released`, `totals`
 * and `settled`. Each waits for the one before, which keeps the order of locks the same everywhere: run, step,
 * reservation, totals, day, and after them the routine. `settled` has one row, so that what follows can wait for it.
 * @param step relation with `run_id`, `index`, `organization_id`, `project_id`, `routine_id` and `model_id`; nothing is
 * settled when it is empty, or when the step is in the ledger already
 */
export function settlement(
  step: Sql,
  { usage }: { readonly usage: Usage },
  costUsd: string | null,
): Sql {
  const tokens = totalTokens(usage);
  return sql`ledger as (
        insert into usage_ledger
          (run_id, step_index, project_id, routine_id, model_id, total_tokens, cost_usd, occurred_at)
        select run_id, index, project_id, routine_id, model_id, ${tokens}, ${costUsd}::numeric, now() from ${step} step
        on conflict do nothing
        returning run_id, step_index
      ), released as (
        delete from usage_reservations r using ledger
        where r.run_id = ledger.run_id and r.step_index = ledger.step_index
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
          ${usage.outputTokens}, ${usage.reasoningTokens}, ${costUsd}::numeric, 1
        from ${step} step, (select count(*) as scopes from totals) locked where scopes > 0
        on conflict (project_id, day, routine_id, model_id) do update set
          input_tokens = d.input_tokens + excluded.input_tokens,
          cached_input_tokens = d.cached_input_tokens + excluded.cached_input_tokens,
          output_tokens = d.output_tokens + excluded.output_tokens,
          reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens,
          cost_usd = case when excluded.cost_usd is null then d.cost_usd
            else coalesce(d.cost_usd, 0) + excluded.cost_usd end,
          steps = d.steps + 1
        returning steps
      ), settled as (
        select count(*) as days from days
      )`;
}

/**
 * Releases what the steps of runs have reserved, as the common table expressions `left_over` and `released` of the
 * statement that ends them. `released` has a row for each scope.
 * @param ended relation with `id`, `organization_id`, `project_id` and `routine_id`
 */
export function releaseOfRun(ended: Sql): Sql {
  return sql`left_over as (
        delete from usage_reservations r using ${ended} ended where r.run_id = ended.id
        returning ended.organization_id, ended.project_id, ended.routine_id, r.tokens, r.cost_usd
      ), released as (
        ${addToTotals(sql`(
          select scope_id, 0::bigint as tokens, 0::numeric as cost_usd, -sum(left_over.tokens) as reserved_tokens,
            -sum(left_over.cost_usd) as reserved_cost_usd
          from left_over, unnest(array[organization_id, project_id, routine_id]) as scope_id
          group by scope_id
        )`)}
      )`;
}
