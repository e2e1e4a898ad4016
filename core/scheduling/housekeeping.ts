import { forgetAuditEvents } from '#core/audit/index.ts';
import { forgetSignIns } from '#core/connections/index.ts';
import { eraseDeletedProjects } from '#core/deletion/index.ts';
import { forgetAuthentication, forgetInvitations, forgetThrottles } from '#core/identity/index.ts';
import { forgetBudgetNotices } from '#core/notifications/index.ts';
import { forgetMessages } from '#core/outbox/index.ts';
import { forgetBreakers, forgetFollowers } from '#core/runs/index.ts';
import { forgetDeletedSkills } from '#core/skills/index.ts';
import { forgetDays, forgetLedger } from '#core/usage/index.ts';
import { forgetDeliveries } from '#core/webhooks/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';

/** Rows deleted in one statement, so that a backlog of millions makes no long transaction. */
const BATCH = 1_000;

/** Functions that delete what has expired, each at most `limit` rows; they return how many. */
const FORGET: readonly ((db: Db, limit: number) => Promise<number>)[] = [
  forgetIdempotencyKeys,
  forgetRateLimits,
  forgetBreakers,
  forgetFollowers,
  forgetSignIns,
  eraseDeletedProjects,
  ...forgetAuthentication,
  forgetDeletedSkills,
  forgetLedger,
  forgetDays,
  forgetMessages,
  forgetDeliveries,
  forgetThrottles,
  forgetInvitations,
  forgetBudgetNotices,
];

/** Deletes expired rows in batches until none is left; stops between two batches when `signal` aborts. */
export async function forgetExpired(
  db: Db,
  auditRetentionDays: number,
  signal: AbortSignal,
): Promise<void> {
  for (const forget of [...FORGET, ofAudit]) {
    do signal.throwIfAborted();
    while ((await forget(db, BATCH)) === BATCH);
  }

  function ofAudit(_: Db, limit: number): Promise<number> {
    return forgetAuditEvents(db, auditRetentionDays, limit);
  }
}

/** Deletes idempotency keys after a day, the time for which Stripe keeps them. */
function forgetIdempotencyKeys(db: Db, limit: number): Promise<number> {
  return execute(
    db,
    sql`
      with old as (
        select scope, key from idempotency_keys where created_at < now() - interval '24 hours'
        order by created_at limit ${limit}
        for update skip locked
      )
      delete from idempotency_keys t using old where t.scope = old.scope and t.key = old.key
    `,
  );
}

/** Works without an index, which every request would have to maintain: the table holds the credentials of one hour. */
function forgetRateLimits(db: Db, limit: number): Promise<number> {
  return execute(
    db,
    sql`
      with old as (
        select credential from rate_limits where window_start < now() - interval '1 hour'
        limit ${limit}
        for update skip locked
      )
      delete from rate_limits t using old where t.credential = old.credential
    `,
  );
}
