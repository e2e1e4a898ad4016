import type { Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { MailContent, MessageKind, MessageSubject } from './message.ts';

/**
 * Queues a mail to each of these people, in the transaction of the event, so that neither is ever stored without the
 * other. Their addresses are looked up when it is sent.
 * @param mail.dedupeKey ensures that it is queued only once, ever
 */
export async function enqueueMail(
  tx: Db,
  mail: Omit<MessageSubject, 'projectId'> & {
    /** Null for a mail about several projects. */
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
    insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, user_id, content,
      dedupe_key, state)
    select recipient.id, 'mail', ${mail.kind}, ${mail.organizationId}, ${mail.projectId}, ${mail.routineId},
      ${mail.runId}, recipient.user_id, ${JSON.stringify(mail.content)}::jsonb,
      ${mail.dedupeKey ?? null}::text || ':' || recipient.user_id, 'pending'
    from unnest(${ids}::text[], ${mail.userIds}::text[]) as recipient (id, user_id)
    on conflict (dedupe_key) do nothing
  `;
}

/** Queues a mail to the operator. */
export async function enqueueOperatorMail(
  tx: Db,
  mail: { readonly kind: MessageKind; readonly content: MailContent },
): Promise<void> {
  await tx.run`
    insert into outbox (id, channel, kind, content, state)
    values (${newId('message')}, 'mail', ${mail.kind}, ${JSON.stringify(mail.content)}::jsonb, 'pending')
  `;
}

/** Queues a GET to a monitor, in the transaction that ends the run. */
export async function enqueuePing(tx: Db, ping: MessageSubject & { readonly url: string }): Promise<void> {
  await tx.run`
    insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, url, state)
    values (${newId('message')}, 'ping', 'success_ping', ${ping.organizationId}, ${ping.projectId},
      ${ping.routineId}, ${ping.runId}, ${ping.url}, 'pending')
  `;
}

/** Records that there was something to tell, but no one who could be mailed. */
export async function recordUnaddressed(tx: Db, mail: MessageSubject & { readonly kind: MessageKind }): Promise<void> {
  await tx.run`
    insert into outbox (id, channel, kind, organization_id, project_id, routine_id, run_id, state, error, finished_at)
    values (${newId('message')}, 'mail', ${mail.kind}, ${mail.organizationId}, ${mail.projectId},
      ${mail.routineId}, ${mail.runId}, 'cancelled', 'no recipient is a member with a confirmed address', now())
  `;
}

/** Records an event that a later mail about the routine will count. */
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

/** Count of events of one kind that were withheld since the last mail about a routine. */
export interface HeldCount {
  readonly kind: MessageKind;
  readonly count: number;
}

/** Counts what was held back about a routine, and marks it as merged into the mail that this transaction queues. */
export function mergeHeld(tx: Db, routineId: string): Promise<HeldCount[]> {
  return tx.rows<HeldCount>`
    with merged as (
      update outbox set state = 'merged', finished_at = now()
      where routine_id = ${routineId} and state = 'held'
      returning kind
    )
    select kind, count(*) from merged group by kind order by count(*) desc, kind
  `;
}

/** Does the same for all routines of a project, each counted on its own. */
export function mergeHeldOfProject(tx: Db, projectId: string): Promise<(HeldCount & { readonly routineId: string })[]> {
  return tx.rows`
    with merged as (
      update outbox set state = 'merged', finished_at = now()
      where project_id = ${projectId} and state = 'held'
      returning kind, routine_id
    )
    select routine_id as "routineId", kind, count(*) from merged group by routine_id, kind
  `;
}

/** Cancels what was held back about a routine that has no subscribers any more. */
export async function cancelHeld(tx: Db, routineId: string): Promise<void> {
  await tx.run`
    update outbox set state = 'cancelled', finished_at = now(), error = 'it has no subscribers any more'
    where routine_id = ${routineId} and state = 'held'
  `;
}
