import { addWork } from '#core/foundation/work/index.ts';
import type { EndedWork, WorkItem } from '#core/foundation/work/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { hasEndedDigests, hasOptedOut } from './opt-outs.ts';
import type { MailContent, MessageKind } from './message.ts';

/** A message that waits to be sent, with the present data of its recipient. */
export interface WaitingMessage {
  readonly id: string;
  readonly kind: MessageKind;
  readonly projectId: string | null;
  readonly routineId: string | null;
  readonly userId: string | null;
  readonly url: string | null;
  readonly content: MailContent | null;
  /** Sealed content of a mail about an account. */
  readonly sealed: string | null;
  /** True for a mail whose link has expired. */
  readonly isOver: boolean;
  /** Confirmed address of a member; null when the person may not be mailed. */
  readonly address: string | null;
  readonly optedOut: boolean;
  /** Projects in this digest that the person may read and whose digests the person has not ended. */
  readonly projectIds: readonly string[];
}

/** Reads a message; undefined once it was cancelled, erased or sent. */
export function findWaiting(db: Db, id: string): Promise<WaitingMessage | undefined> {
  return db.row<WaitingMessage>`
    select o.id, o.kind, o.project_id as "projectId", o.routine_id as "routineId", o.user_id as "userId", o.url,
      o.content, o.sealed, coalesce(o.expires_at <= now(), false) as "isOver",
      (
        select u.email from users u join memberships m on m.user_id = u.id
        where u.id = o.user_id and u.email_verified and (m.organization_id = o.organization_id
        or o.kind = 'results_digest' and o.project_id is null)
        limit 1
      ) as address,
      case when o.kind = 'results_digest' then ${hasEndedDigests(sql`o.user_id`, sql`o.project_id`)}
        else ${hasOptedOut(sql`o.user_id`, sql`o.project_id, o.routine_id`)} end as "optedOut",
      array(
        select p.id from jsonb_array_elements(o.content -> 'parts') part
        join projects p on p.id = part ->> 'projectId' and p.deleted_at is null
        join memberships m on m.organization_id = p.organization_id and m.user_id = o.user_id
        where not ${hasEndedDigests(sql`o.user_id`, sql`p.id`)}
      ) as "projectIds"
    from outbox o where o.id = ${id} and o.state = 'pending'
  `;
}

/** Records the end of a message that waited. A finished message keeps no text. */
export async function recordSending(tx: Db, { key, attempt }: WorkItem, outcome: EndedWork): Promise<void> {
  const [state, error] = outcome.state === 'done' ? ['sent', null] : [outcome.state, outcome.error];
  await tx.run`
    update outbox set state = ${state}, error = ${error}, attempts = ${attempt}, content = null, sealed = null,
      finished_at = now()
    where id = ${key} and state = 'pending'
  `;
}

/** Due time that hides a message from the previous release, which sends every due row of `outbox`. */
export const NOT_THERE = sql`'infinity'::timestamptz`;

/** The kind of work that sends a message, by its row of `outbox`. */
const kindOfWork = sql`case when channel = 'mail' and organization_id = '' then 'operator_mail' else channel end`;

/** Queues messages that the same statement inserts. @param rows relation of rows of `outbox` */
export function queueMessages(rows: Sql): Sql {
  return addWork(sql`select ${kindOfWork}, id, organization_id, date_trunc('milliseconds', now()), '{}' from ${rows}`);
}

/** The most rows that one tick moves. The next tick continues. */
const MOST = 5_000;

/**
 * Moves messages of the previous release, which may still run, into the queue of work, unless that release holds a
 * lease on them. Raises the count of attempts of each message by one, so that a late attempt of that release records
 * nothing.
 * @returns the number of moved messages
 */
export function adoptMessages(db: Db): Promise<number> {
  return db.run`
    with left_behind as (
      update outbox set next_attempt_at = ${NOT_THERE}, attempts = attempts + 1
      where id = any(array(
        select id from outbox where state = 'pending' and next_attempt_at <= now() limit ${MOST} for update skip locked
      ))
      returning id, channel, organization_id
    )
    ${queueMessages(sql`left_behind`)}
  `;
}
