import type { MailSettings } from '#core/identity/index.ts';
import type { MessageSubject } from '#core/outbox/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { rows, sql, type Db, type Sql } from '#lib/database/index.ts';

/** Recipients of a routine's mails, and what the mails say of the routine. */
export interface Subscription {
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineName: string;
  readonly projectName: string;
  /** The routine's own settings, else its project's; null where neither has any. */
  readonly mail: MailSettings | null;
  readonly projectMail: MailSettings | null;
  readonly successPingUrl: string | null;
  readonly budgets: Budgets;
}

/**
 * Selects the subscription of a routine as JSON, for the statement that ends its run; null when nobody has subscribed,
 * as for most routines. It reads two rows by their keys.
 */
export function subscriptionOf(routineId: Sql): Sql {
  return sql`(select ${columns} from routines r join projects p on p.id = r.project_id
    join organizations o on o.id = p.organization_id
    where r.id = ${routineId} and ${hasSubscription})`;
}

/** Returns an SQL condition that is true when somebody may have to be told of a routine's success. */
export function hasAudience(routine: Sql): Sql {
  return sql`(${routine}.notify_mail is not null or ${routine}.success_ping_url is not null
    or exists (select from projects p where p.id = ${routine}.project_id and p.notify_mail is not null))`;
}

/** Reads the subscriptions of these routines, ordered by id, without those that nobody has subscribed to. */
export async function readSubscriptions(
  db: Db,
  routineIds: readonly string[],
): Promise<Subscription[]> {
  const found = await rows<{ subscription: Subscription }>(
    db,
    sql`
      select ${columns} as subscription from routines r join projects p on p.id = r.project_id
      join organizations o on o.id = p.organization_id
      where r.id = any(${routineIds}) and ${hasSubscription} order by r.id
    `,
  );
  return found.map(({ subscription }) => subscription);
}

const hasSubscription = sql`p.deleted_at is null
  and (r.notify_mail is not null or p.notify_mail is not null or r.success_ping_url is not null)`;

const columns = sql`jsonb_build_object('organizationId', p.organization_id, 'projectId', p.id, 'routineId', r.id,
  'routineName', r.name, 'projectName', p.name, 'mail', coalesce(r.notify_mail, p.notify_mail),
  'projectMail', p.notify_mail, 'successPingUrl', r.success_ping_url,
  'budgets', jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
    'organization', ${budgetColumns('o')}))`;

/** Returns the subject under which the messages of a subscription are stored. */
export function subjectOf(
  { organizationId, projectId, routineId }: Subscription,
  runId: string | null,
): MessageSubject {
  return { organizationId, projectId, routineId, runId };
}
