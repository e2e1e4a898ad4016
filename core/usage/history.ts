import type { Usage } from '#core/foundation/cost/index.ts';
import { now } from '#lib/clock.ts';
import { deleteBatch, sql, type Db } from '#lib/database/index.ts';
import { firstIdAt } from '#lib/ids.ts';

export const USAGE_GROUPS = ['day', 'routine', 'model'] as const;
type UsageGroup = (typeof USAGE_GROUPS)[number];

interface UsageSum extends Omit<Usage, 'estimated'> {
  /** Cost in US dollars as a decimal string; null when no step had a price. */
  readonly costUsd: string | null;
  /** Number of model steps. */
  readonly steps: number;
}

interface GroupedUsage extends UsageSum {
  /** A date, the id of a routine or the id of a model. */
  readonly key: string;
}

/** The most groups in one response: the routines or models with the most usage. */
export const MAX_USAGE_GROUPS = 1_000;

const sums = sql`coalesce(sum(input_tokens), 0)::bigint as "inputTokens",
  coalesce(sum(cached_input_tokens), 0)::bigint as "cachedInputTokens",
  coalesce(sum(output_tokens), 0)::bigint as "outputTokens",
  coalesce(sum(reasoning_tokens), 0)::bigint as "reasoningTokens",
  trim_scale(sum(cost_usd))::text as "costUsd", coalesce(sum(steps), 0)::bigint as steps`;

const KEYS = {
  day: sql`to_char(day, 'YYYY-MM-DD')`,
  routine: sql`routine_id`,
  model: sql`model_id`,
};

const ORDER = {
  day: sql`key`,
  routine: sql`sum(input_tokens + output_tokens) desc, key`,
  model: sql`sum(input_tokens + output_tokens) desc, key`,
};

/** Sums a project's usage from one day to another, both included: in total, by group, and of rehearsals. */
export async function readUsage(
  db: Db,
  projectId: string,
  { from, to, groupBy }: { from: string; to: string; groupBy: UsageGroup },
): Promise<{ total: UsageSum; rehearsals: UsageSum; groups: GroupedUsage[] }> {
  const chosen = sql`from usage_days where project_id = ${projectId} and day between ${from}::date and ${to}::date`;
  const total = await db.row<UsageSum>`select ${sums} ${chosen}`;
  const rehearsals = await db.row<UsageSum>`
    select ${sums} from (
      select input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd, step_count as steps from runs
      where project_id = ${projectId} and trigger = 'rehearsal'
        and (created_at at time zone 'utc')::date between ${from}::date and ${to}::date
    ) rehearsed
  `;
  if (total === undefined || rehearsals === undefined) throw new Error('no sum from the database');
  const groups = await db.rows<GroupedUsage>`
    select ${KEYS[groupBy]} as key, ${sums} ${chosen}
    group by 1 order by ${ORDER[groupBy]} limit ${MAX_USAGE_GROUPS}
  `;
  return { total, rehearsals, groups };
}

/** Ways to split each day's usage: by the routines, or by the models, with the most usage over all days. */
export const USAGE_PARTS = ['routine', 'model'] as const;
type UsagePart = (typeof USAGE_PARTS)[number];

/** Number of named parts of a day. All other parts together are one more part. */
export const MAX_USAGE_PARTS = 4;

interface DayPart {
  readonly day: string;
  /** The id of a routine or of a model; null for all other parts together. */
  readonly key: string | null;
  readonly totalTokens: number;
  readonly costUsd: string | null;
}

/** Sums a project's usage by day and by the routines or models that used most in that time. */
export function readDailyParts(
  db: Db,
  projectId: string,
  { from, to, splitBy }: { from: string; to: string; splitBy: UsagePart },
): Promise<DayPart[]> {
  return db.rows<DayPart>`
    with chosen as (
      select day, ${KEYS[splitBy]} as key, input_tokens, output_tokens, cost_usd
      from usage_days where project_id = ${projectId} and day between ${from}::date and ${to}::date
    ), named as (
      select key from chosen group by key
      order by sum(input_tokens + output_tokens) desc, key limit ${MAX_USAGE_PARTS}
    )
    select ${KEYS.day} as day, named.key, sum(input_tokens + output_tokens)::bigint as "totalTokens",
      trim_scale(sum(cost_usd))::text as "costUsd"
    from chosen left join named using (key)
    group by chosen.day, named.key
    order by chosen.day, "totalTokens" desc, named.key
  `;
}

/** Functions that delete at most `limit` rows of expired usage and return their number. */
export const forgetUsage = [forgetLedger, forgetDays] as const;

const DAY_MS = 86_400_000;

/** Days for which the ledger is kept, even after its runs are deleted: three years, for questions about a bill. */
const LEDGER_DAYS = 1_100;

/** Deletes old entries of the ledger. The sums by day keep their amounts. */
function forgetLedger(db: Db, limit: number): Promise<number> {
  // Ids of runs sort by time, so the key of the ledger serves as the index.
  const first = firstIdAt('run', new Date(now() - LEDGER_DAYS * DAY_MS));
  return deleteBatch(db, { table: 'usage_ledger', where: sql`run_id < ${first}`, orderBy: sql`run_id`, limit });
}

function forgetDays(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'usage_days',
    where: sql`day < (now() at time zone 'utc' - interval '10 years')::date`,
    orderBy: sql`day`,
    limit,
  });
}
