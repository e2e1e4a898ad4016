import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { isUnavailable, type Db } from './database.ts';

/**
 * Deletes at most `limit` rows of a table that meet a condition. Rows that another transaction has locked are left to
 * the next call, so any number of callers can work side by side.
 * @param rows.table name of the table, never a caller's text: it becomes part of the statement
 * @param rows.orderBy order of deletion; with an index in this order, few rows are read even in a large table
 * @returns the number of deleted rows; fewer than `limit` when none is left
 */
export function deleteBatch(
  db: Db,
  rows: { table: string; where: Sql; orderBy?: Sql; limit: number },
): Promise<number> {
  const table = raw(rows.table);
  const order = rows.orderBy === undefined ? empty : sql`order by ${rows.orderBy}`;
  return db.run`
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${rows.where} ${order} limit ${rows.limit} for update skip locked
    ))
  `;
}

/**
 * Works on items one after the other, each in a separate transaction. A failed item does not stop the later ones.
 * @param given.failed is called with each failure and its item
 * @throws the signal's reason; at once, an error that means that Postgres is away; after all items, the first error
 */
export async function eachApart<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  given: { readonly signal?: AbortSignal; readonly failed: (err: unknown, item: T) => void },
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) {
    given.signal?.throwIfAborted();
    try {
      await work(item);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      given.failed(error, item);
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** Waits until no other transaction holds this key, and holds the key until the transaction ends. */
export async function lockKey(tx: Db, key: string): Promise<void> {
  await tx.row`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}
