import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { pricesAt, type Prices } from '#core/foundation/cost/index.ts';
import type { Attempt } from './settle.ts';
import {
  costLeft,
  leastOf,
  MIN_OUTPUT_TOKENS,
  nearestFirst,
  passedOf,
  thisMonth,
  today,
  tokensLeft,
  type PassedLimit,
  type ScopeLimits,
} from './budget.ts';

/**
 * Output tokens with which a step begins at once. A step never waits for more, and leaves this much to each step that
 * waits.
 * Directories state maxima that hardly any response reaches: if every step waited for its maximum, steps would run one
 * at a time.
 */
const ENOUGH_OUTPUT_TOKENS = 16_384;

/** The most that an attempt at a model step can use. */
export interface StepBound extends Attempt {
  readonly limits: readonly ScopeLimits[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Prices of the model; null only when no limit is a cost limit. */
  readonly prices: Prices | null;
  /** The run's own limit; null without a limit. */
  readonly maxRunTokens: number | null;
  /** The longest that the call can take. The reservation is held no longer. */
  readonly leaseMs: number;
  /** True if the input counts as spent when the process dies, false if the next attempt continues the same call. */
  readonly countsIfLost: boolean;
}

export type Reservation =
  | { readonly verdict: 'granted'; readonly maxOutputTokens: number }
  /** Other steps have reserved the amount that the step needs, and release it when they settle or their lease ends. */
  | { readonly verdict: 'wait'; readonly ahead: number }
  /** A budget leaves too little, even without the reservations of other steps. */
  | { readonly verdict: 'exceeded'; readonly passedLimit: PassedLimit | undefined }
  /** The run's own limit leaves too little. */
  | { readonly verdict: 'run_exceeded' };

interface Verdict {
  readonly verdict: Reservation['verdict'] | 'unknown_scope';
  readonly maxOutputTokens: number | null;
  readonly ahead: number;
  readonly passedLimit: PassedLimit | null;
}

/** Pieces of the reserving statement that read tables of runs. The subject that owns these tables writes the pieces. */
export interface ReservedFor {
  /**
   * Relation of one row with `run_tokens`, the tokens that the run has used. Locks the run. The relation is empty when
   * the step may not be made.
   */
  readonly begun: Sql;
  /**
   * Relation of one row: the number of `others` that wait for the same limits, and how many are `ahead` of the step.
   */
  readonly waiters: Sql;
  /**
   * Common table expressions that read the verdict from the relation `room`, with the columns `verdict` and `ahead`.
   */
  readonly after: Sql;
}

/**
 * Reserves the most that an attempt at a step can use against all limits at once, in one statement. If less is left,
 * the step gets a lower limit of output, down to 256 tokens. The reservation of an earlier attempt stays until its call
 * has returned or its lease has ended, because its response may still come. A step overtakes waiting steps only if
 * enough is left for all waiting steps.
 * @returns undefined when `begun` was empty
 */
export async function reserve(db: Db, step: StepBound, pieces: ReservedFor): Promise<Reservation | undefined> {
  for (;;) {
    const found = await db.row<Verdict>`${reservation(step, pieces)}`;
    if (found === undefined) return undefined;
    const { verdict, maxOutputTokens, ahead, passedLimit } = found;
    switch (verdict) {
      case 'unknown_scope':
        await openTotals(db, step.limits);
        break;
      case 'granted':
        return { verdict, maxOutputTokens: maxOutputTokens ?? 0 };
      case 'wait':
        return { verdict, ahead };
      case 'exceeded':
        return { verdict, passedLimit: passedLimit ?? undefined };
      case 'run_exceeded':
        return { verdict };
    }
  }
}

/**
 * Locks the rows of all scopes in the order of their ids and decides by their newest values. `output_left` is the
 * output that the shared limits leave for the step. `output_room` is the unreserved part of the shared limits; it has
 * no value without a shared limit. `output_free` is the output that both `output_room` and the run's own limit allow.
 * The run's own limit subtracts only the reservations of earlier attempts at this step, since no other run uses it.
 */
function reservation(step: StepBound, { begun, waiters, after }: ReservedFor): Sql {
  const { runId, index, attempt, inputTokens, outputTokens, limits, leaseMs, countsIfLost } = step;
  const prices = step.prices && pricesAt(step.prices, inputTokens);
  const input = sql`${prices?.input ?? null}::numeric`;
  const output = sql`${prices?.output ?? null}::numeric`;
  const inputCost = sql`(${inputTokens}::bigint * ${input})`;
  const least = sql`least(${outputTokens}::bigint, ${MIN_OUTPUT_TOKENS}::bigint)`;
  const enough = sql`least(output_left, run_left, ${ENOUGH_OUTPUT_TOKENS}::bigint)`;
  const forAnother = sql`${ENOUGH_OUTPUT_TOKENS + inputTokens}::bigint`;
  const scopeIds = limits.map(({ scopeId }) => scopeId);
  return sql`
      with begun as materialized (
        ${begun}
      ), own as materialized (
        select run_left, run_left - coalesce((
            select sum(tokens) from usage_reservations where run_id = ${runId} and leased_until > now()
          ), 0) as run_free
        from (select ${step.maxRunTokens}::bigint - run_tokens - ${inputTokens}::bigint as run_left from begun) as run
      ), locked as materialized (
        select l.*, ${tokensLeft} as tokens_left, ${costLeft} as cost_left,
          t.reserved_tokens as tokens_reserved, t.reserved_cost_usd as cost_reserved
        from begun cross join jsonb_to_recordset(${JSON.stringify(limits)}::jsonb)
          as l("scopeId" text, scope text, "costScope" text, "maxTokensPerDay" bigint, "maxCostUsdPerMonth" numeric)
        join usage_totals t on t.scope_id = l."scopeId"
        order by t.scope_id
        for no key update of t
      ), bound as (
        select count(*) as scopes,
          least(${outputTokens}::bigint, min(tokens_left) - ${inputTokens}::bigint,
            floor((min(cost_left) - ${inputCost}) / nullif(${output}, 0))) as output_left,
          least(min(tokens_left - tokens_reserved) - ${inputTokens}::bigint,
            floor((min(cost_left - cost_reserved) - ${inputCost}) / nullif(${output}, 0))) as output_room,
          -- Compared apart, because the division above gives null for a model with free output.
          min(cost_left) < ${inputCost} as input_exceeds, min(cost_left - cost_reserved) < ${inputCost} as input_waits
        from locked
      ), waiters as materialized (
        ${waiters}
      ), free as (
        select *, least(${outputTokens}::bigint, output_room, run_free) as output_free from bound, own, waiters
      ), room as materialized (
        select ahead, least(output_free, greatest(${ENOUGH_OUTPUT_TOKENS}::bigint,
            coalesce(output_room - others * ${forAnother}, output_free)))::bigint as tokens, case
            when scopes < ${limits.length}::bigint then 'unknown_scope'
            when input_exceeds or output_left < ${least} then 'exceeded'
            when run_left < ${least} then 'run_exceeded'
            when input_waits or output_free < ${enough} or output_room - ahead * ${forAnother} < ${enough} then 'wait'
            else 'granted' end as verdict
        from free
      ), granted as (
        select tokens as output_tokens, ${inputTokens}::bigint + tokens as tokens,
          coalesce(${inputCost} + tokens * ${output}, 0) as cost_usd
        from room where verdict = 'granted'
      ), reserved as (
        insert into usage_reservations
          (run_id, step_index, attempt, scope_ids, tokens, cost_usd, leased_until, input_tokens, input_cost_usd)
        select ${runId}, ${index}, ${attempt}, ${scopeIds}, tokens, cost_usd,
          now() + ${leaseMs}::float8 * interval '1 millisecond',
          case when ${countsIfLost} then ${inputTokens}::bigint end, case when ${countsIfLost} then ${inputCost} end
        from granted
      ), added as (
        update usage_totals t set
          reserved_tokens = t.reserved_tokens + granted.tokens,
          reserved_cost_usd = t.reserved_cost_usd + granted.cost_usd
        from granted where t.scope_id = any(${scopeIds})
      ), ${after}
      select verdict, tokens as "maxOutputTokens", ahead, case when verdict = 'exceeded' then (
          select to_jsonb(passed) from locked l
          cross join lateral (${passedOf(leastOf(step), sql`l.tokens_left`, sql`l.cost_left`)}) passed
          order by ${nearestFirst} limit 1
        ) end as "passedLimit"
      from room
    `;
}

async function openTotals(db: Db, limits: readonly ScopeLimits[]): Promise<void> {
  await db.run`
    insert into usage_totals (scope_id, day, month)
    select scope_id, ${today}, ${thisMonth}
    from unnest(${limits.map(({ scopeId }) => scopeId)}::text[]) as scope_id order by scope_id
    on conflict do nothing
  `;
}
