import { isLimited, sharesUsed, type ScopeBudget } from '#core/usage/index.ts';
import { row, sql, execute, type Db } from '#lib/database/index.ts';
import type { Subscription } from './subscription.ts';
import { mailTo, type News } from './tell.ts';

/** A budget of which a threshold is reached for the first time in its period. */
interface Crossing {
  readonly budget: 'tokens_day' | 'cost_month';
  readonly percent: 80 | 100;
}

const WORDS: Readonly<Record<Crossing['budget'], string>> = {
  tokens_day: 'tokens of this day (UTC)',
  cost_month: 'cost of this month (UTC)',
};

/** Finds the thresholds of the routine's own budget that have just been reached, as news for its subscribers. */
export async function routineBudgetNews(
  tx: Db,
  { mail, projectId, routineId, budgets }: Subscription,
  usedUp: boolean,
): Promise<News[]> {
  if (mail?.on.includes('budget') !== true) return [];
  const limits = { scopeId: routineId, ...budgets.routine };
  const crossed = await crossings(tx, projectId, limits, usedUp);
  return crossed.map((crossing) => ({
    event: 'budget',
    heading: heading(crossing),
    lines: [sentence('The routine', crossing)],
  }));
}

/**
 * Mails the project's subscribers about the budgets of the project and of its organization, which belong to no single
 * routine: once for each threshold and period, outside the limit of one mail an hour.
 */
export async function tellOfSharedBudgets(
  tx: Db,
  subscription: Subscription,
  { runId, usedUp }: { runId: string; usedUp: boolean },
): Promise<void> {
  const { projectMail, projectId, organizationId, budgets } = subscription;
  if (projectMail?.on.includes('budget') !== true) return;
  const scopes = [
    { who: 'The project', limits: { scopeId: projectId, ...budgets.project } },
    { who: 'The organization', limits: { scopeId: organizationId, ...budgets.organization } },
  ];
  for (const { who, limits } of scopes) {
    for (const crossing of await crossings(tx, projectId, limits, usedUp)) {
      await mailTo(tx, subscription, {
        runId,
        to: projectMail.to,
        kind: 'budget',
        heading: heading(crossing),
        lines: [sentence(who, crossing)],
      });
    }
  }
}

/**
 * Finds the highest reached threshold of each budget that has not been reported in this period, and marks it as
 * reported.
 * @param usedUp the run ended because a step no longer fitted, so a budget above four fifths counts as used up
 */
async function crossings(
  tx: Db,
  projectId: string,
  limits: ScopeBudget,
  usedUp: boolean,
): Promise<Crossing[]> {
  if (!isLimited(limits)) return [];
  const crossed: Crossing[] = [];
  for (const { budget, period, share, scopeId } of await sharesUsed(tx, [limits])) {
    if (share < 0.8) continue;
    const percent = share >= 1 || usedUp ? 100 : 80;
    const first = await row(
      tx,
      sql`
        insert into budget_notices (project_id, scope_id, budget, period, percent)
        values (${projectId}, ${scopeId}, ${budget}, ${period}::date, ${percent})
        on conflict do nothing returning 1
      `,
    );
    if (first !== undefined) crossed.push({ budget, percent });
  }
  return crossed;
}

function heading({ percent }: Crossing): string {
  return percent === 100 ? 'Budget used up' : 'Budget at 80 %';
}

function sentence(who: string, { budget, percent }: Crossing): string {
  const share = percent === 100 ? 'used up its budget' : 'used 80 % of its budget';
  return `${who} has ${share} for the ${WORDS[budget]}.`;
}

/** Deletes notices of periods that are long over. */
export function forgetBudgetNotices(db: Db, limit: number): Promise<number> {
  return execute(
    db,
    sql`
      with old as (
        select ctid from budget_notices where period < now() - interval '62 days' limit ${limit}
        for update skip locked
      )
      delete from budget_notices t using old where t.ctid = old.ctid
    `,
  );
}
