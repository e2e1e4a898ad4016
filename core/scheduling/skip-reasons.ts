import { effectivePlan, takeRuns, type PlanRule } from '#core/billing/index.ts';
import { overBudget, type RunReason } from '#core/runs/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';
import type { DueRoutine } from './due-routines.ts';

export interface SkipRules {
  readonly planRule: PlanRule;
  /** Whether routines of this model provider may run now. */
  readonly providerEnabled: (provider: string) => boolean;
}

/**
 * Why the occurrence that would run is passed over instead, by routine. The allowance is taken last, for those that
 * nothing else holds back.
 */
export async function reasonsToSkip(
  tx: Db,
  rules: SkipRules,
  candidates: readonly DueRoutine[],
): Promise<ReadonlyMap<string, RunReason>> {
  const reasons = new Map<string, RunReason>();
  const passOver = (ids: Iterable<string>, reason: RunReason) => {
    for (const id of ids) if (!reasons.has(id)) reasons.set(id, reason);
  };
  const disabled = candidates.filter(({ provider }) => !rules.providerEnabled(provider));
  passOver(
    disabled.map(({ id }) => id),
    'provider_disabled',
  );
  passOver(await stillOpen(tx, candidates), 'overlap');
  const budgeted = candidates.map((routine) => ({ ...routine, routineId: routine.id }));
  passOver(await overBudget(tx, budgeted), 'budget_exceeded');
  const left = candidates.filter(({ id }) => !reasons.has(id));
  passOver(await overAllowance(tx, rules.planRule, left), 'allowance_exceeded');
  return reasons;
}

async function stillOpen(tx: Db, routines: readonly DueRoutine[]): Promise<string[]> {
  const ids = routines.filter(({ overlap }) => overlap === 'skip').map(({ id }) => id);
  if (ids.length === 0) return [];
  const open = await rows<{ id: string }>(
    tx,
    sql`
      select distinct routine_id as id from runs
      where routine_id = any(${ids}) and state in ('queued', 'running')
    `,
  );
  return open.map(({ id }) => id);
}

/** Takes the month's allowance organization by organization; in the order of their ids, so that ticks cannot deadlock. */
async function overAllowance(
  tx: Db,
  planRule: PlanRule,
  routines: readonly DueRoutine[],
): Promise<string[]> {
  const byOrganization = Map.groupBy(routines, ({ organizationId }) => organizationId);
  const refused: string[] = [];
  for (const organizationId of [...byOrganization.keys()].toSorted()) {
    const wanted = byOrganization.get(organizationId) ?? [];
    const plan = effectivePlan(planRule, wanted[0]?.paidPlan ?? null);
    const granted = await takeRuns(tx, { organizationId, plan, wanted: wanted.length });
    refused.push(...wanted.slice(granted).map(({ id }) => id));
  }
  return refused;
}
