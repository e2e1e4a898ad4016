import { sql, type Db } from '#lib/database/index.ts';
import { hasEndedDigests, hasOptedOut } from './opt-outs.ts';
import type { Channel, MailContent, MessageKind } from './message.ts';

/** A message that only this process may send, for the length of its lease. */
export interface ClaimedMessage {
  readonly id: string;
  readonly kind: MessageKind;
  /** Counts from 1; a record of an earlier attempt is rejected by it. */
  readonly attempt: number;
  /** Empty for a message to the operator. */
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly routineId: string | null;
  readonly runId: string | null;
  readonly userId: string | null;
  readonly url: string | null;
  readonly content: MailContent | null;
  /** Confirmed address of a member; null when the person may not be mailed, or no longer. */
  readonly address: string | null;
  readonly optedOut: boolean;
  /** Projects of the parts of a digest that the person may read and has not ended the digests of. */
  readonly projectIds: readonly string[];
}

/** Lease that outlasts any attempt, so that it expires only when the process has died. */
export const LEASE = sql`interval '3 minutes'`;

/**
 * Claims due messages, counts the attempt and leases them, in one statement: if the process dies afterwards, they are
 * due again under the same ids. Organizations take turns: the oldest message of each comes first, then the second
 * oldest. The statement walks the index from organization to organization, so its cost grows with the number of
 * organizations that wait and not with what they have queued.
 */
export function claimMessages(
  db: Db,
  { channel, limit, forOperator }: { channel: Channel; limit: number; forOperator: boolean },
): Promise<ClaimedMessage[]> {
  return db.rows<ClaimedMessage>`
    with recursive organization (id) as (
      select min(organization_id) from outbox where state = 'pending' and channel = ${channel}
      union all
      select (
        select min(o.organization_id) from outbox o
        where o.state = 'pending' and o.channel = ${channel} and o.organization_id > organization.id
      ) from organization where organization.id is not null
    ), turn as materialized (
      select due.id from organization cross join lateral (
        select o.id, o.next_attempt_at, row_number() over (order by o.next_attempt_at, o.id) as place
        from outbox o
        where o.state = 'pending' and o.channel = ${channel} and o.organization_id = organization.id
          and o.next_attempt_at <= now() and (o.organization_id <> '' or ${forOperator}::boolean)
        order by o.next_attempt_at, o.id limit ${limit}
      ) due
      order by due.place, due.next_attempt_at limit ${limit}
    ), free as materialized (
      select id from outbox where id in (select id from turn) and state = 'pending' and next_attempt_at <= now()
      for update skip locked
    ), claimed as (
      update outbox set attempts = attempts + 1, next_attempt_at = now() + ${LEASE}
      from free where outbox.id = free.id
      returning outbox.*
    )
    select c.id, c.kind, c.attempts as attempt, c.organization_id as "organizationId", c.project_id as "projectId",
      c.routine_id as "routineId", c.run_id as "runId", c.user_id as "userId", c.url, c.content,
      (
        select u.email from users u join memberships m on m.user_id = u.id
        where u.id = c.user_id and u.email_verified and (m.organization_id = c.organization_id
        or c.kind = 'results_digest' and c.project_id is null)
        limit 1
      ) as address,
      case when c.kind = 'results_digest' then ${hasEndedDigests(sql`c.user_id`, sql`c.project_id`)}
        else ${hasOptedOut(sql`c.user_id`, sql`c.project_id, c.routine_id`)} end as "optedOut",
      array(
        select p.id from jsonb_array_elements(c.content -> 'parts') part
        join projects p on p.id = part ->> 'projectId' and p.deleted_at is null
        join memberships m on m.organization_id = p.organization_id and m.user_id = c.user_id
        where not ${hasEndedDigests(sql`c.user_id`, sql`p.id`)}
      ) as "projectIds"
    from claimed c
  `;
}

/** Result of an attempt; `retry` carries the delay before the next one. */
export type Verdict =
  | { readonly state: 'sent' }
  | { readonly state: 'cancelled' | 'failed'; readonly error: string }
  | { readonly state: 'retry'; readonly error: string; readonly delayMs: number };

/** Records an attempt, unless its lease has run out and another attempt was begun. A finished message keeps no text. */
export async function recordSending(
  db: Db,
  { id, attempt }: Pick<ClaimedMessage, 'id' | 'attempt'>,
  verdict: Verdict,
): Promise<void> {
  const error = verdict.state === 'sent' ? null : verdict.error;
  const change =
    verdict.state === 'retry'
      ? sql`next_attempt_at = now() + ${verdict.delayMs}::float8 * interval '1 millisecond'`
      : sql`state = ${verdict.state}, content = null, sealed = null, finished_at = now()`;
  await db.run`
    update outbox set error = ${error}, ${change}
    where id = ${id} and state = 'pending' and attempts = ${attempt}
  `;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Waits between attempts. A mail server may be away for a day; a ping says that a run has succeeded just now, so a late
 * one would mislead.
 */
const LADDER_MS: Readonly<Record<Channel, readonly number[]>> = {
  mail: [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, 12 * HOUR_MS],
  ping: [MINUTE_MS, 2 * MINUTE_MS],
};

/** Returns the wait after a failed attempt, counted from 1; undefined after the last. */
export function messageRetryMs(channel: Channel, attempt: number): number | undefined {
  return LADDER_MS[channel][attempt - 1];
}

/** Returns true for an attempt beyond the last one: processes died in earlier attempts. */
export function isBeyondLast(channel: Channel, attempt: number): boolean {
  return attempt > LADDER_MS[channel].length + 1;
}
