import { RECORD_PACE, type RecordKind } from '#core/foundation/work/index.ts';
import { isLimited, sharesUsed, type LimitName } from '#core/usage/index.ts';
import { deleteBatch, sql, type Db, type Sql } from '#lib/database/index.ts';
import { spender } from './notes.ts';
import { followsBudgets, readSubscriptions, type MailSubscription } from './subscription.ts';
import { mailProject, mailTo, tell, type News, type ProjectNews } from './tell.ts';

/** A budget that reaches a threshold for the first time in its period, with the people of a project who are mailed. */
interface Crossing {
  readonly scope: keyof typeof WHO;
  readonly budget: keyof typeof WORDS;
  readonly percent: 80 | 100;
  readonly followers: Followers;
}

/** The budget that had too little left for the next step. */
type UsedUp = { readonly scope: string; readonly name: string } | 'unknown';

type Followers = Pick<ProjectNews, 'projectId' | 'projectName' | 'to'>;

const WHO = { routine: 'The routine', project: 'The project', organization: 'The organization' } as const;

const WORDS = { tokens_day: 'tokens of this day (UTC)', cost_month: 'cost of this month (UTC)' } as const;

const NAME_OF: Readonly<Record<Crossing['budget'], LimitName>> = {
  tokens_day: 'maxTokensPerDay',
  cost_month: 'maxCostUsdPerMonth',
};

/**
 * Finds, for each followed budget, the highest threshold that is reached and not yet reported, and marks the threshold
 * as reported.
 * @param usedUp the budget that had too little left for the next step; it counts as used up if more than four fifths
 * are spent. For `unknown`, the fullest budget counts as used up
 */
export async function findCrossings(
  tx: Db,
  subscription: MailSubscription,
  usedUp: UsedUp | undefined,
): Promise<Crossing[]> {
  const { projectId, routineId, organizationId, budgets } = subscription;
  const scopes = [
    ...(wants(subscription.mail) ? [{ scope: 'routine' as const, scopeId: routineId }] : []),
    ...(wants(subscription.projectMail) ? [{ scope: 'project' as const, scopeId: projectId }] : []),
    // Always include the organization: other projects may follow its budget even if this routine and its project do
    // not.
    { scope: 'organization' as const, scopeId: organizationId },
  ].filter(({ scope }) => isLimited(budgets[scope]));
  if (scopes.length === 0) return [];
  const limits = scopes.map(({ scope, scopeId }) => ({ scopeId, ...budgets[scope] }));
  const used = await sharesUsed(tx, limits);
  const highest = Math.max(...used.map(({ share }) => share));
  const crossed: Crossing[] = [];
  // Set marks in one order everywhere, so that two concurrent steps cannot deadlock.
  const inOrder = used.toSorted((a, b) => a.budget.localeCompare(b.budget));
  for (const { scope, scopeId } of scopes) {
    for (const each of inOrder.filter((share) => share.scopeId === scopeId)) {
      if (each.share < 0.8) continue;
      const { budget, period } = each;
      const isUsedUp =
        usedUp === 'unknown' ? each.share === highest : usedUp?.scope === scope && usedUp.name === NAME_OF[budget];
      const percent = each.share >= 1 || isUsedUp ? (100 as const) : (80 as const);
      const following =
        scope === 'organization'
          ? sql`p.organization_id = ${organizationId} and p.deleted_at is null and ${followsBudgets(sql`p`)}`
          : sql`p.id = ${projectId}`;
      const told = await markReported(tx, following, { scopeId, budget, period, percent });
      crossed.push(...told.map((followers) => ({ scope, budget, percent, followers })));
    }
  }
  return crossed;
}

interface Notice extends Pick<Crossing, 'budget' | 'percent'> {
  readonly scopeId: string;
  readonly period: string;
}

/** Marks a threshold as reported, and returns the projects that had no report of it yet. */
function markReported(tx: Db, following: Sql, { scopeId, budget, period, percent }: Notice): Promise<Followers[]> {
  return tx.rows<Followers>`
    with marked as (
      insert into budget_notices (project_id, scope_id, budget, period, percent)
      select p.id, ${scopeId}, ${budget}, ${period}::date, ${percent}::integer from projects p
      where ${following} and not exists (
        select from budget_notices n
        where n.project_id = p.id and n.scope_id = ${scopeId} and n.budget = ${budget}
          and n.period = ${period}::date and n.percent = ${percent}::integer)
      order by p.id
      on conflict do nothing returning project_id
    )
    select p.id as "projectId", p.name as "projectName", p.notify_mail->'to' as "to"
    from marked join projects p on p.id = marked.project_id order by p.id
  `;
}

export function routineBudgetNews(crossings: readonly Crossing[]): News[] {
  return crossings
    .filter(({ scope }) => scope === 'routine')
    .map((crossing) => ({ event: 'budget', ...wordsOf(crossing) }));
}

/**
 * Mails the subscribers of projects about the budgets of the project and its organization. These mails do not use up
 * the one mail an hour of a routine. Subscribers of other projects do not learn which routine spent the budget.
 */
export async function tellOfSharedBudgets(
  tx: Db,
  subscription: MailSubscription,
  { runId, crossings }: { runId: string; crossings: readonly Crossing[] },
): Promise<void> {
  const { organizationId, projectId } = subscription;
  for (const crossing of crossings.filter(({ scope }) => scope !== 'routine')) {
    const { followers } = crossing;
    const news = { kind: 'budget' as const, ...wordsOf(crossing) };
    if (followers.projectId === projectId) {
      await mailTo(tx, subscription, { runId, to: followers.to, ...news });
    } else {
      await mailProject(tx, { organizationId, ...followers, ...news, page: 'usage' });
    }
  }
}

function wants(mail: MailSubscription['mail']): boolean {
  return mail?.on.includes('budget') === true;
}

function wordsOf({ scope, budget, percent }: Crossing): Pick<News, 'heading' | 'lines'> {
  const share = percent === 100 ? 'used up its budget' : 'used 80 % of its budget';
  return {
    heading: percent === 100 ? 'Budget used up' : 'Budget at 80 %',
    lines: [`${WHO[scope]} has ${share} for the ${WORDS[budget]}.`],
  };
}

export function forgetBudgetNotices(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, { table: 'budget_notices', where: sql`period < now() - interval '62 days'`, limit });
}

export const spendingKind: RecordKind = {
  ...RECORD_PACE,
  record: (tx, { payload }) => notifySpending(tx, spender.parse(payload)),
};

/**
 * Mails about the budgets of which a step has spent four fifths, or everything. Each threshold is reported once in a
 * period, so the end of the run does not repeat it.
 */
export async function notifySpending(
  tx: Db,
  { runId, routineId }: { readonly runId: string; readonly routineId: string },
): Promise<void> {
  const [subscription] = await readSubscriptions(tx, [routineId]);
  if (subscription === undefined) return;
  const crossings = await findCrossings(tx, subscription, undefined);
  await tell(tx, subscription, { runId, news: routineBudgetNews(crossings) });
  await tellOfSharedBudgets(tx, subscription, { runId, crossings });
}
