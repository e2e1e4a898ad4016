import type { PaidPlan } from '#core/accounts/organizations/index.ts';
import { join, sql, type Sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/** Allowances of the plans. `apiWrites` lets API keys write; prices are US cents a month. */
export const PLANS = {
  free: { priceCents: 0, activeRoutines: 2, runsPerPeriod: 100, runsAtATime: 1, apiWrites: false },
  starter: { priceCents: 1_000, activeRoutines: 10, runsPerPeriod: 1_000, runsAtATime: 3, apiWrites: false },
  pro: { priceCents: 3_900, activeRoutines: 100, runsPerPeriod: 20_000, runsAtATime: 20, apiWrites: true },
  scale: { priceCents: 9_900, activeRoutines: 1_000, runsPerPeriod: 200_000, runsAtATime: 100, apiWrites: true },
} as const satisfies Record<'free' | PaidPlan, object>;

export type Plan = keyof typeof PLANS;

export interface PlanRule {
  /** True when a payment processor is configured; otherwise the service is self-hosted. */
  readonly billingConfigured: boolean;
  /** The plan of every organization on a self-hosted service. */
  readonly defaultPlan: Plan;
  /** The most runs that an organization may have at a time, set by the operator. No limit by default. */
  readonly runsAtATime?: number | undefined;
}

/**
 * Returns an organization's plan: the plan that it has paid for, or the operator's default on a self-hosted service.
 */
export function effectivePlan(rule: PlanRule, paidPlan: Plan | null): Plan {
  return rule.billingConfigured ? (paidPlan ?? 'free') : rule.defaultPlan;
}

/**
 * Returns an SQL expression: the plan that a row of `organizations` has paid for. The plan ends when the paid time
 * ends, even while the scheduler or the payment processor is down.
 */
export function paidPlanOf(organization: Sql): Sql {
  return sql`(case when ${organization}.paid_until > now() then ${organization}.paid_plan end)`;
}

/**
 * Returns an SQL expression for the most runs that the organization `o` of a statement may have at a time; null for no
 * limit. A plan's limit applies only where plans are paid for.
 */
export function runsAtATimeOf(rule: PlanRule): Sql {
  const operator = sql`${rule.runsAtATime ?? null}::integer`;
  if (!rule.billingConfigured) return operator;
  const plans = Object.entries(PLANS).filter(([plan]) => plan !== 'free');
  const cases = plans.map(([plan, { runsAtATime }]) => sql`when ${plan} then ${runsAtATime}::integer`);
  return sql`
    least(case ${paidPlanOf(sql`o`)} ${join(cases, ' ')} else ${PLANS.free.runsAtATime}::integer end, ${operator})
  `;
}

/** Tells whether the actor may write: an API key on pro and scale only, and a person's session on any plan. */
export function mayWrite(plan: Plan, actor: 'key' | 'session'): boolean {
  return actor === 'session' || PLANS[plan].apiWrites;
}

/** The paid plans, the cheapest first. */
export const PAID_PLANS = ['starter', 'pro', 'scale'] as const satisfies readonly PaidPlan[];

/** Price ids of each paid plan: the first is sold, and the others are still accepted. */
export type PriceList = Readonly<Record<PaidPlan, readonly [sold: string, ...former: string[]]>>;

/** Returns the plan of a price; undefined for a price that this service does not sell. */
export function planOfPrice(prices: PriceList, priceId: string | null): PaidPlan | undefined {
  return PAID_PLANS.find((plan) => priceId !== null && prices[plan].includes(priceId));
}

/** Parses a variable such as `price_a, price_b`. @throws when the variable names no price */
export function parsePriceIds(text: string): readonly [string, ...string[]] {
  const [sold, ...former] = text
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  if (sold === undefined) throw new Error('no price id');
  return [sold, ...former];
}

/** Tells whether a plan is better than another, that is, more expensive. */
export function isBetter(plan: PaidPlan, than: PaidPlan): boolean {
  return PLANS[plan].priceCents > PLANS[than].priceCents;
}

/** Start of the calendar month in UTC, the period of organizations without a subscription. */
const monthStart = sql`date_trunc('month', now(), 'utc')`;

function periodStart(organizationId: string): Sql {
  return sql`coalesce(
    (select period_start from organizations where id = ${organizationId} and paid_until > now()), ${monthStart})`;
}

/**
 * Returns the statement of a CTE that counts one run against the allowance of the period. The CTE has one row, or none
 * when the allowance is used up or the condition is false.
 */
export function takeOneRun(organizationId: string, plan: Plan, condition: Sql): Sql {
  return sql`
    insert into period_runs as p (organization_id, period_start, runs)
    select ${organizationId}, ${periodStart(organizationId)}, 1 ${condition}
    on conflict (organization_id, period_start) do update set runs = p.runs + 1
      where p.runs < ${PLANS[plan].runsPerPeriod}
    returning p.runs
  `;
}

/**
 * Counts up to `wanted` runs against the period's allowance and returns how many it granted. The row stays locked until
 * the end of the transaction, so no other claim is granted the same runs.
 */
export async function takeRuns(tx: Db, input: { organizationId: string; plan: Plan; wanted: number }): Promise<number> {
  const used = await tx.row<{ runs: number; periodStart: Date }>`
    insert into period_runs as p (organization_id, period_start, runs)
    values (${input.organizationId}, ${periodStart(input.organizationId)}, 0)
    on conflict (organization_id, period_start) do update set runs = p.runs
    returning p.runs, p.period_start as "periodStart"
  `;
  const left = Math.max(PLANS[input.plan].runsPerPeriod - (used?.runs ?? 0), 0);
  const granted = Math.min(input.wanted, left);
  if (granted > 0) {
    await tx.run`
      update period_runs set runs = runs + ${granted}
      where organization_id = ${input.organizationId} and period_start = ${used?.periodStart}
    `;
  }
  return granted;
}

/** Returns an SQL condition: another organization has had a run in the last two months. */
export function othersHaveRun(organizationId: Sql): Sql {
  return sql`exists (select from period_runs others
    join organizations there on there.id = others.organization_id and there.deleted_at is null
    where others.organization_id <> ${organizationId} and others.runs > 0
      and others.period_start > now() - interval '62 days')`;
}

/**
 * Returns an organization's runs per day, from the counts of its last two periods. Counting the runs themselves could
 * read a hundred thousand rows.
 * @param least the fewest days to divide by
 */
export function runsPerDay(db: Db, organizationId: string, least: number): Promise<number> {
  return db.value<number>`
    select (coalesce(sum(p.runs), 0) / greatest(${least}::integer,
        extract(epoch from now() - greatest(min(p.period_start), min(o.created_at))) / 86400))::float8 as pace
    from organizations o left join lateral (
      select runs, period_start from period_runs
      where organization_id = o.id and period_start > now() - interval '62 days'
      order by period_start desc limit 2
    ) p on true
    where o.id = ${organizationId}
  `;
}

export interface PeriodUsage {
  readonly start: Date;
  readonly end: Date;
  /** Kind of the period: `subscription` for a paid plan, otherwise the calendar month in UTC. */
  readonly kind: 'subscription' | 'month';
  readonly runs: number;
  readonly activeRoutines: number;
}

export function readPeriodUsage(db: Db, organizationId: string): Promise<PeriodUsage> {
  return db.rowOr<PeriodUsage>('organization_not_found')`
    with period as (
      select id, paid_until > now() and period_start is not null as paid, period_start, period_end
      from organizations where id = ${organizationId}
    ), bounds as (
      select id, case when paid then 'subscription' else 'month' end as kind,
        case when paid then period_start else ${monthStart} end as start,
        case when paid then period_end else ${monthStart} + interval '1 month' end as "end"
      from period
    )
    select bounds.kind, bounds.start, bounds."end", coalesce(p.runs, 0) as runs,
      (select count(*) from routines r join projects on projects.id = r.project_id
        where projects.organization_id = bounds.id and r.state = 'active') as "activeRoutines"
    from bounds left join period_runs p on p.organization_id = bounds.id and p.period_start = bounds.start
  `;
}

interface Refused {
  readonly organizationId: string;
  readonly plan: Plan;
}

/** Makes the error that names the used-up allowance and the time of its renewal. */
export async function runsExceeded(db: Db, refused: Refused): Promise<AppError> {
  const { plan } = refused;
  const end = await periodEnd(db, refused);
  return new AppError(
    'allowance_exceeded',
    `The ${plan} plan allows ${PLANS[plan].runsPerPeriod} runs a period, and all are used. The next period begins at ${end}. The owner of the organization can take a larger plan.`,
  );
}

/** Makes the error of an API key that tries to write on a plan where keys only read. */
export async function writeRefused(db: Db, refused: Refused): Promise<AppError> {
  const end = await periodEnd(db, refused);
  return new AppError(
    'plan_write_required',
    `On the ${refused.plan} plan, whose period ends at ${end}, API keys can only read. They can write on these plans: ${WRITERS}.`,
  );
}

const WRITERS = Object.entries(PLANS)
  .flatMap(([name, { apiWrites }]) => (apiWrites ? [name] : []))
  .join(', ');

async function periodEnd(db: Db, { organizationId }: Refused): Promise<string> {
  return (await readPeriodUsage(db, organizationId)).end.toISOString();
}

/**
 * Refuses an activation beyond the plan. Locks the organization's row until the end of the transaction, so that two
 * activations cannot take the last place together.
 * @throws {AppError} `allowance_exceeded` when as many routines are active as the plan allows
 */
export async function assertMayActivate(tx: Db, organizationId: string, plan: Plan): Promise<void> {
  await tx.row`select id from organizations where id = ${organizationId} for no key update`;
  if (await mayActivate(tx, organizationId, plan)) return;
  const end = await periodEnd(tx, { organizationId, plan });
  throw new AppError(
    'allowance_exceeded',
    `The ${plan} plan, whose period ends at ${end}, allows ${PLANS[plan].activeRoutines} active routines, and the organization has that many. Pause one, or ask the owner of the organization to take a larger plan.`,
  );
}

/** Returns true when the plan has room for one more active routine. */
export async function mayActivate(db: Db, organizationId: string, plan: Plan): Promise<boolean> {
  const active = await db.value<number>`
    select count(*) from routines r
    join projects p on p.id = r.project_id
    where p.organization_id = ${organizationId} and r.state = 'active'
  `;
  return active < PLANS[plan].activeRoutines;
}
