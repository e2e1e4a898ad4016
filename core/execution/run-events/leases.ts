import { deleteBatch, sql, lockKey, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/** The record of an event stream, so that streams are counted over all replicas. */
export interface StreamLease {
  readonly id: string;
  readonly organizationId: string;
  /** Id of the API key or session that opened the stream. */
  readonly credential: string;
  /** The run whose unfinished text is wanted; null for none. */
  readonly textOf: string | null;
}

export interface StreamLimits {
  readonly perCredential: number;
  readonly perOrganization: number;
}

/** After this time the stream of a dead process stops counting. A living process renews its leases every 30 seconds. */
const LEASE = sql`interval '90 seconds'`;

/**
 * Records a stream, unless its credential or organization has reached its number of open streams over all replicas.
 * Streams of one organization open one after the other, so that a burst cannot exceed the limit.
 * @throws {AppError} `rate_limited`
 */
export function takeLease(database: Database, lease: StreamLease, limits: StreamLimits): Promise<void> {
  const { organizationId, credential } = lease;
  return transaction(database, async (tx) => {
    await lockKey(tx, `ras:streams:${organizationId}`);
    const open = await tx.row<{ ofOrganization: number; ofCredential: number }>`
      select count(*) as "ofOrganization", count(*) filter (where credential = ${credential}) as "ofCredential"
      from run_followers where organization_id = ${organizationId} and leased_until > now()
    `;
    const { ofOrganization = 0, ofCredential = 0 } = open ?? {};
    if (ofCredential >= limits.perCredential) throw tooMany('credential', limits.perCredential);
    if (ofOrganization >= limits.perOrganization) throw tooMany('organization', limits.perOrganization);
    await renewLeases(tx, [lease]);
  });
}

function tooMany(holder: string, limit: number): AppError {
  return new AppError(
    'rate_limited',
    `This ${holder} has ${limit} event streams open, which is the limit; close one first.`,
    { 'Retry-After': '5' },
  );
}

/** Renews leases. Inserts a row again if it is gone because Postgres crashed, or was away for longer than a lease. */
export async function renewLeases(db: Db, leases: readonly StreamLease[]): Promise<void> {
  await db.run`
    insert into run_followers (id, organization_id, credential, run_id, leased_until)
    select l.id, l."organizationId", l.credential, l."textOf", now() + ${LEASE}
    from jsonb_to_recordset(${JSON.stringify(leases)}::jsonb)
      as l(id uuid, "organizationId" text, credential text, "textOf" text)
    on conflict (id) do update set leased_until = excluded.leased_until
  `;
}

export async function endLeases(db: Db, ids: readonly string[]): Promise<void> {
  await db.run`delete from run_followers where id = any(${ids}::uuid[])`;
}

/** Deletes the streams of processes that have died. */
export function forgetFollowers(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, { table: 'run_followers', where: sql`leased_until < now()`, limit });
}
