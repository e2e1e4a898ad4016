import { deleteBatch, sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import type { WorkItem } from './kinds.ts';

/** Lease that outlasts any attempt, so that it expires only when the process has died. */
const LEASE = sql`interval '3 minutes'`;

/**
 * Adds work, as a part of the statement that causes it. Waiting work of the same kind and key stays unchanged. Returns
 * the key.
 * @param rows select of kind, key, turn, due time and payload, in this order
 */
export function addWork(rows: Sql): Sql {
  return sql`insert into work (kind, key, turn, due_at, payload) ${rows}
    on conflict (kind, key) do nothing returning key`;
}

/**
 * Claims due rows of a kind, counts the attempt and leases the rows, in one statement: if the process dies afterwards,
 * the rows are due again. Turns alternate: the oldest row of each turn comes first, then the second oldest. The
 * statement walks the index from turn to turn, so its cost grows with the number of waiting turns and not with their
 * rows.
 */
export function claimWork(db: Db, kind: string, limit: number): Promise<WorkItem[]> {
  return db.rows<WorkItem>`
    with recursive waiting (turn) as (
      select min(turn) from work where kind = ${kind} and failed_at is null
      union all
      select (
        select min(w.turn) from work w where w.kind = ${kind} and w.failed_at is null and w.turn > waiting.turn
      ) from waiting where waiting.turn is not null
    ), chosen as materialized (
      select due.key from waiting cross join lateral (
        select w.key, w.due_at, row_number() over (order by w.due_at, w.key) as place from work w
        where w.kind = ${kind} and w.failed_at is null and w.turn = waiting.turn and w.due_at <= now()
        order by w.due_at, w.key limit ${limit}
      ) due
      order by due.place, due.due_at, due.key limit ${limit}
    ), free as materialized (
      select kind, key from work
      where kind = ${kind} and key in (select key from chosen) and failed_at is null and due_at <= now()
      for update skip locked
    )
    update work set attempts = attempts + 1, due_at = now() + ${LEASE}
    from free where work.kind = free.kind and work.key = free.key
    returning work.key, attempts as attempt, payload
  `;
}

/**
 * Removes a row and calls `then` in the same transaction. Does nothing if the lease has run out and another attempt has
 * begun.
 */
export function finishWork(
  database: Database,
  kind: string,
  { key, attempt }: WorkItem,
  then: (tx: Db) => Promise<void>,
): Promise<void> {
  return transaction(database, async (tx) => {
    const finished = await tx.run`
      delete from work where kind = ${kind} and key = ${key} and attempts = ${attempt} and failed_at is null
    `;
    if (finished > 0) await then(tx);
  });
}

/** Lets a row wait for its next attempt, unless another attempt has followed. */
export async function postponeWork(
  db: Db,
  kind: string,
  { key, attempt }: WorkItem,
  { error, delayMs }: { readonly error: string; readonly delayMs: number },
): Promise<void> {
  await db.run`
    update work set error = ${error}, due_at = now() + ${delayMs}::float8 * interval '1 millisecond'
    where kind = ${kind} and key = ${key} and attempts = ${attempt} and failed_at is null
  `;
}

/** Makes a row due now if it waits after a failed attempt. */
export async function hastenWork(db: Db, kind: string, key: string): Promise<void> {
  await db.run`
    update work set due_at = now() where kind = ${kind} and key = ${key} and error is not null and failed_at is null
  `;
}

/** Gives a row up, for operators to see, unless another attempt has followed. */
export async function failWork(db: Db, kind: string, { key, attempt }: WorkItem, error: string): Promise<void> {
  await db.run`
    update work set error = ${error}, failed_at = now()
    where kind = ${kind} and key = ${key} and attempts = ${attempt} and failed_at is null
  `;
}

/** Deletes rows 90 days after they were given up. */
export function forgetWork(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, { table: 'work', where: sql`failed_at < now() - interval '90 days'`, limit });
}

/** Counts the rows that were given up, up to 10,000, as an SQL expression. */
export const failedWork = sql`(
  select count(*) from (select from work where failed_at is not null limit 10000) failed
)`;

/** Counts the rows of kinds that this release does not know, up to 10,000, as an SQL expression. */
export function unknownWork(kinds: readonly string[]): Sql {
  return sql`(
    select count(*) from (select from work where kind <> all(${kinds}) and failed_at is null limit 10000) unknown
  )`;
}
