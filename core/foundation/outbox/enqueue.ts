import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { MailContent, MessageKind, MessageSubject } from './message.ts';
import { NOT_THERE, queueMessages } from './waiting.ts';

/**
 * Queues a mail to each of these people, in the transaction of the event, so that mail and event are stored together or
 * not at all. Addresses are looked up when the mail is sent.
 * @param mail.dedupeKey ensures that the mail is queued only once
 */
export async function enqueueMail(
  tx: Db,
  mail: Omit<MessageSubject, 'projectId'> & {
    /** Project of the mail; null for a mail about several projects. */
    readonly projectId: string | null;
    readonly kind: MessageKind;
    readonly userIds: readonly string[];
    readonly content: MailContent;
    readonly dedupeKey?: string;
  },
): Promise<void> {
  if (mail.userIds.length === 0) return;
  const ids = mail.userIds.map(() => newId('message'));
  await tx.run`
    with message as (
      insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, user_id, content,
        dedupe_key, state, next_attempt_at)
      select recipient.id, 'mail', ${mail.kind}, ${mail.organizationId}, ${mail.projectId}, ${mail.routineId},
        ${mail.runId}, recipient.user_id, ${JSON.stringify(mail.content)}::jsonb,
        ${mail.dedupeKey ?? null}::text || ':' || recipient.user_id, 'pending', ${NOT_THERE}
      from unnest(${ids}::text[], ${mail.userIds}::text[]) as recipient (id, user_id)
      on conflict (dedupe_key) do nothing returning id, channel, organization_id
    )
    ${queueMessages(sql`message`)}
  `;
}

export async function enqueueOperatorMail(
  tx: Db,
  mail: { readonly kind: MessageKind; readonly content: MailContent },
): Promise<void> {
  await tx.run`
    with message as (
      insert into outbox (id, channel, kind, content, state, next_attempt_at)
      values (${newId('message')}, 'mail', ${mail.kind}, ${JSON.stringify(mail.content)}::jsonb, 'pending',
        ${NOT_THERE})
      returning id, channel, organization_id
    )
    ${queueMessages(sql`message`)}
  `;
}

/** Queues a GET to a monitor, in the transaction that ends the run. */
export async function enqueuePing(tx: Db, ping: MessageSubject & { readonly url: string }): Promise<void> {
  await tx.run`
    with message as (
      insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, url, state,
        next_attempt_at)
      values (${newId('message')}, 'ping', 'success_ping', ${ping.organizationId}, ${ping.projectId},
        ${ping.routineId}, ${ping.runId}, ${ping.url}, 'pending', ${NOT_THERE})
      returning id, channel, organization_id
    )
    ${queueMessages(sql`message`)}
  `;
}

/** Records a mail as cancelled, for example because it has no recipient. */
export async function recordUnaddressed(
  tx: Db,
  mail: MessageSubject & { readonly kind: MessageKind },
  why = 'no recipient is a member with a confirmed address',
): Promise<void> {
  await tx.run`
    insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, state, error, finished_at)
    values (${newId('message')}, 'mail', ${mail.kind}, ${mail.organizationId}, ${mail.projectId},
      ${mail.routineId}, ${mail.runId}, 'cancelled', ${why}, now())
  `;
}

/** Holds events about a routine for the summary of the project, which counts the events. */
export async function holdMail(
  tx: Db,
  mail: MessageSubject & { readonly kinds: readonly MessageKind[] },
): Promise<void> {
  const ids = mail.kinds.map(() => newId('message'));
  await tx.run`
    insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, state)
    select held.id, 'mail', held.kind, ${mail.organizationId}, ${mail.projectId}, ${mail.routineId},
      ${mail.runId}, 'held'
    from unnest(${ids}::text[], ${mail.kinds}::text[]) as held (id, kind)
  `;
}

/** Selects `project_id` and `organization_id` of the projects with an event held for this long. */
export function projectsWithHeld(interval: Sql): Sql {
  return sql`select project_id, organization_id from outbox
      where state = 'held' and created_at <= now() - ${interval} group by project_id, organization_id`;
}

/** Count of held events of one kind about a routine. */
export interface HeldCount {
  readonly routineId: string;
  readonly kind: MessageKind;
  readonly count: number;
}

/**
 * Counts the held mails about the routines of a project, and marks them as merged into the mail that this transaction
 * queues.
 */
export function mergeHeld(tx: Db, projectId: string): Promise<HeldCount[]> {
  return tx.rows`
    with merged as (
      update outbox set state = 'merged', finished_at = now()
      where project_id = ${projectId} and state = 'held'
      returning kind, routine_id
    )
    select routine_id as "routineId", kind, count(*) from merged group by routine_id, kind
  `;
}
