import { sql, type Db, type Sql } from '#lib/database/index.ts';
import type { PaidPlan } from './organizations.ts';

/** A change of an organization or a project; a missing field keeps its value. */
export interface Change {
  readonly name?: string | undefined;
  readonly budget?:
    | { readonly maxTokensPerDay?: number | null | undefined; readonly maxCostUsdPerMonth?: string | null | undefined }
    | undefined;
}

/** Writes the settings of an organization. The caller has locked it. */
export async function writeOrganization(
  tx: Db,
  id: string,
  change: Change & { readonly requiresSecondFactor?: boolean | undefined },
): Promise<void> {
  await tx.run`
    update organizations set ${assignments(change)},
      requires_second_factor = coalesce(${change.requiresSecondFactor ?? null}, requires_second_factor)
    where id = ${id}
  `;
}

export async function writeProject(
  tx: Db,
  id: string,
  change: Change & {
    readonly mail?: object | null | undefined;
    readonly mcpEnabled?: boolean | undefined;
    readonly sharedLinksEnabled?: boolean | undefined;
    readonly runContentDays?: number | null | undefined;
    readonly runDays?: number | null | undefined;
  },
): Promise<void> {
  const { mail, runContentDays, runDays, sharedLinksEnabled } = change;
  await tx.run`
    update projects set ${assignments(change)},
      run_content_days = case when ${runContentDays === undefined}::boolean then run_content_days
        else ${runContentDays ?? null}::integer end,
      run_days = case when ${runDays === undefined}::boolean then run_days else ${runDays ?? null}::integer end,
      notify_mail = case when ${mail === undefined}::boolean then notify_mail
        else ${mail == null ? null : JSON.stringify(mail)}::jsonb end,
      mcp_enabled = coalesce(${change.mcpEnabled ?? null}, mcp_enabled),
      shared_links_since = case ${sharedLinksEnabled ?? null}::boolean
        when true then coalesce(shared_links_since, now()) when false then null else shared_links_since end
    where id = ${id}
  `;
}

export interface PaidAccess {
  readonly plan: PaidPlan;
  readonly until: Date;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
}

/** Writes the plan that an organization has paid for. @returns the previous plan; undefined without the organization */
export async function writePaidPlan(
  tx: Db,
  organizationId: string,
  paid: PaidAccess | undefined,
): Promise<{ readonly plan: PaidPlan | null } | undefined> {
  return tx.row<{ plan: PaidPlan | null }>`
    with before as (
      select id, paid_plan from organizations where id = ${organizationId} for no key update
    )
    update organizations o set paid_plan = ${paid?.plan ?? null}, paid_until = ${paid?.until ?? null},
      period_start = ${paid?.periodStart ?? null}, period_end = ${paid?.periodEnd ?? null}
    from before where o.id = before.id
    returning before.paid_plan as plan
  `;
}

function assignments({ name, budget: { maxTokensPerDay, maxCostUsdPerMonth } = {} }: Change): Sql {
  return sql`
    name = coalesce(${name ?? null}, name),
    max_tokens_per_day = case when ${maxTokensPerDay === undefined}::boolean then max_tokens_per_day
      else ${maxTokensPerDay ?? null}::bigint end,
    max_cost_usd_per_month = case when ${maxCostUsdPerMonth === undefined}::boolean then max_cost_usd_per_month
      else ${maxCostUsdPerMonth ?? null}::numeric end`;
}
