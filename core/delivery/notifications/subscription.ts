import { mailIn, type MailSettings } from '#core/accounts/settings/index.ts';
import type { MessageSubject } from '#core/foundation/outbox/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { raw, sql, type Db, type Sql } from '#lib/database/index.ts';

/** The recipients of mail about a routine, possibly none, and the fields that the mails show. */
export interface MailSubscription {
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineName: string;
  readonly projectName: string;
  /** The routine's own settings, or else the settings of its project; null if neither has settings. */
  readonly mail: MailSettings | null;
  readonly projectMail: MailSettings | null;
  readonly successPingUrl: string | null;
  /** True when results of the routine go to people. */
  readonly hasReaders: boolean;
  readonly budgets: Budgets;
}

/** SQL condition: people of a project are mailed about its budgets. */
export function followsBudgets(project: Sql): Sql {
  return sql`${project}.notify_mail->'on' @> '["budget"]'`;
}

/** SQL condition: people of some project get mail about the organization's budget, which its projects share. */
const isFollowedByAnother = sql`((o.max_tokens_per_day is not null or o.max_cost_usd_per_month is not null)
  and exists (select from projects f
    where f.organization_id = o.id and f.deleted_at is null and ${followsBudgets(sql`f`)}))`;

/** Reads the subscriptions of routines, ordered by id. Routines without subscribers are left out. */
export async function readSubscriptions(db: Db, routineIds: readonly string[]): Promise<MailSubscription[]> {
  const found = await db.rows<{ subscription: MailSubscription }>`
    select ${columns} as subscription from routines r join projects p on p.id = r.project_id
    join organizations o on o.id = p.organization_id
    where r.id = any(${routineIds}) and ${hasSubscription} order by r.id
  `;
  return found.map(({ subscription }) => subscription);
}

/** SQL condition: results of the routine `r` go to people. A draft sends no results, because its runs are trials. */
const hasReaders = sql`(r.state <> 'draft' and (r.results_mail is not null or r.results_chats <> '[]'))`;

/** SQL condition: the routine `r` of the project `p` and the organization `o` may have subscribers. */
export const hasSubscription = sql`p.deleted_at is null
  and (r.notify_mail is not null or p.notify_mail is not null or r.success_ping_url is not null or ${hasReaders}
    or ${isFollowedByAnother})`;

/** SQL condition: a success causes a mail, a ping or a notice of a budget. */
export const followsSuccess = sql`(r.success_ping_url is not null or ${hasReaders} or ${isFollowedByAnother}
  or ${followsBudgets(sql`p`)} or coalesce(r.notify_mail, p.notify_mail)->'on' ?| '{partial,recovered,budget}')`;

const columns = sql`jsonb_build_object('organizationId', p.organization_id, 'projectId', p.id, 'routineId', r.id,
  'routineName', r.name, 'projectName', p.name, 'mail', ${raw(mailIn('coalesce(r.notify_mail, p.notify_mail)'))},
  'projectMail', p.notify_mail, 'successPingUrl', r.success_ping_url,
  'hasReaders', ${hasReaders},
  'budgets', jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
    'organization', ${budgetColumns('o')}))`;

/** Returns the subject of the messages of a subscription, as the outbox stores it. */
export function messageSubjectOf(
  { organizationId, projectId, routineId }: MailSubscription,
  runId: string | null,
): MessageSubject {
  return { organizationId, projectId, routineId, runId };
}
