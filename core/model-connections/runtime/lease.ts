import { execute, row, sql, type Db } from '#lib/database/index.ts';

/** The right of the API side to have the one runtime work for it. */
export interface RuntimeLease {
  readonly instanceId: string;
  readonly epoch: number;
}

/** Reads the lease while it runs. */
export function readRuntimeLease(db: Db): Promise<RuntimeLease | undefined> {
  return row<RuntimeLease>(
    db,
    sql`select instance_id as "instanceId", epoch from runtime_lease where expires_at > now()`,
  );
}

/**
 * Takes the lease with the next epoch, once it has run out. While it runs no other instance gets it, even one that
 * responds in place of an instance that is gone: the two might work at the same time.
 * @param input.seenEpoch the highest epoch that the runtime has seen
 * @returns undefined when it runs, because another process has just taken it
 */
export function takeRuntimeLease(
  db: Db,
  input: { readonly instanceId: string; readonly seenEpoch: number },
): Promise<RuntimeLease | undefined> {
  return row<RuntimeLease>(
    db,
    sql`
      insert into runtime_lease as lease (instance_id, epoch, expires_at)
      values (${input.instanceId}, ${input.seenEpoch}::bigint + 1, now() + interval '30 seconds')
      on conflict (singleton) do update set instance_id = excluded.instance_id,
        epoch = greatest(lease.epoch + 1, excluded.epoch), expires_at = excluded.expires_at
      where lease.expires_at <= now()
      returning instance_id as "instanceId", epoch
    `,
  );
}

/** Extends the lease after the runtime has worked under it. @returns false when it is over */
export async function renewRuntimeLease(db: Db, lease: RuntimeLease): Promise<boolean> {
  const touched = await execute(
    db,
    sql`
      update runtime_lease set expires_at = now() + interval '30 seconds'
      where instance_id = ${lease.instanceId} and epoch = ${lease.epoch} and expires_at > now()
    `,
  );
  return touched === 1;
}

/** The lease while it runs, as a relation with `instance_id` and `epoch`. */
export const runningLease = sql`(select instance_id, epoch from runtime_lease where expires_at > now())`;
