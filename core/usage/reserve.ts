import { execute, row, sql, type Db, type Sql } from '#lib/database/index.ts';
import type { ScopeLimits } from './budget.ts';
import { MIN_OUTPUT_TOKENS, spentThisMonth, spentToday, thisMonth, today } from './totals.ts';
import type { Prices } from './usage.ts';

/** The most that a model step can use. */
export interface StepBound {
  readonly runId: string;
  readonly index: number;
  readonly limits: readonly ScopeLimits[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null only where no limit is one of cost. */
  readonly prices: Pick<Prices, 'input' | 'output'> | null;
}

export type Reservation =
  | { readonly verdict: 'granted'; readonly maxOutputTokens: number }
  /** It would fit but for what other steps have reserved, which they settle soon. */
  | { readonly verdict: 'wait' }
  /** Too little is left, whatever the others come to. */
  | { readonly verdict: 'exceeded' };

interface Verdict {
  readonly verdict: Reservation['verdict'] | 'unknown_scope';
  readonly maxOutputTokens: number | null;
}

/**
 * Reserves the most that a step can use against all limits at once, in one statement. Where less is left, its output is
 * lowered to that, down to 256 tokens. A reservation of an earlier attempt of the step is replaced.
 * @param begun relation with one row while the step may be made, whose rows it locks, and none otherwise
 * @param unless a further statement of the same, for when nothing is granted; it reads the relation `room`
 * @returns undefined when `begun` was empty
 */
export async function reserve(
  db: Db,
  step: StepBound,
  { begun, unless }: { begun: Sql; unless: Sql },
): Promise<Reservation | undefined> {
  for (;;) {
    const found = await row<Verdict>(db, reservation(step, begun, unless));
    if (found === undefined) return undefined;
    const { verdict, maxOutputTokens } = found;
    if (verdict === 'unknown_scope') await openTotals(db, step.limits);
    else if (verdict === 'granted') return { verdict, maxOutputTokens: maxOutputTokens ?? 0 };
    else return { verdict };
  }
}

/**
 * Locks the rows of all scopes in the order of their ids, which also gives their newest values, and decides by them.
 * `output_left` is what the limits leave for the step's output, `output_free` what they leave beside what other steps have
 * reserved.
 */
function reservation(step: StepBound, begun: Sql, unless: Sql): Sql {
  const { inputTokens, outputTokens, limits } = step;
  const input = sql`${step.prices?.input ?? null}::numeric`;
  const output = sql`${step.prices?.output ?? null}::numeric`;
  const inputCost = sql`(${inputTokens}::bigint * ${input})`;
  return sql`
      with begun as materialized (
        ${begun}
      ), own as materialized (
        select tokens, cost_usd from usage_reservations where run_id = ${step.runId} and step_index = ${step.index}
      ), locked as materialized (
        select t.scope_id, l."maxTokensPerDay" - ${spentToday} as tokens_left,
          l."maxCostUsdPerMonth" - ${spentThisMonth} as cost_left,
          t.reserved_tokens - coalesce(own.tokens, 0) as tokens_reserved,
          t.reserved_cost_usd - coalesce(own.cost_usd, 0) as cost_reserved
        from begun cross join jsonb_to_recordset(${JSON.stringify(limits)}::jsonb)
          as l("scopeId" text, "maxTokensPerDay" bigint, "maxCostUsdPerMonth" numeric)
        join usage_totals t on t.scope_id = l."scopeId"
        left join own on true
        order by t.scope_id
        for no key update of t
      ), bound as (
        select count(*) as scopes,
          least(${outputTokens}::bigint, min(tokens_left) - ${inputTokens}::bigint,
            floor((min(cost_left) - ${inputCost}) / nullif(${output}, 0))) as output_left,
          least(${outputTokens}::bigint, min(tokens_left - tokens_reserved) - ${inputTokens}::bigint,
            floor((min(cost_left - cost_reserved) - ${inputCost}) / nullif(${output}, 0))) as output_free,
          -- Said apart, because a model whose output is free has no bound by cost.
          min(cost_left) < ${inputCost} as input_exceeds, min(cost_left - cost_reserved) < ${inputCost} as input_waits
        from locked
      ), room as materialized (
        select output_free::bigint as tokens, case
            when scopes < ${limits.length}::bigint then 'unknown_scope'
            when input_exceeds or output_left < least(${outputTokens}::bigint, ${MIN_OUTPUT_TOKENS}::bigint)
              then 'exceeded'
            when input_waits or output_free < output_left then 'wait'
            else 'granted' end as verdict
        from bound, begun
      ), granted as (
        select tokens as output_tokens, ${inputTokens}::bigint + tokens as tokens,
          coalesce(${inputCost} + tokens * ${output}, 0) as cost_usd
        from room where verdict = 'granted'
      ), reserved as (
        insert into usage_reservations (run_id, step_index, tokens, cost_usd)
        select ${step.runId}, ${step.index}, tokens, cost_usd from granted
        on conflict (run_id, step_index) do update set tokens = excluded.tokens, cost_usd = excluded.cost_usd
      ), added as (
        update usage_totals t set
          reserved_tokens = t.reserved_tokens + granted.tokens - coalesce(own.tokens, 0),
          reserved_cost_usd = t.reserved_cost_usd + granted.cost_usd - coalesce(own.cost_usd, 0)
        from granted left join own on true
        where t.scope_id = any(${limits.map(({ scopeId }) => scopeId)})
      ), unless as (
        ${unless}
      )
      select verdict, tokens as "maxOutputTokens" from room
    `;
}

/** Makes the rows that a first reservation needs to lock. */
async function openTotals(db: Db, limits: readonly ScopeLimits[]): Promise<void> {
  await execute(
    db,
    sql`
      insert into usage_totals (scope_id, day, month)
      select scope_id, ${today}, ${thisMonth}
      from unnest(${limits.map(({ scopeId }) => scopeId)}::text[]) as scope_id order by scope_id
      on conflict do nothing
    `,
  );
}
