import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { isUnavailable, type Db } from './database.ts';

/**
 * Deletes rows of a table that meet a condition, `limit` at most, and leaves those that others hold to the next call,
 * so that any number of callers go on beside each other.
 * @param rows.table its name, never a caller's text
 * @param rows.orderBy which go first; with the index of its order, few rows are read however many there are
 * @returns how many were deleted; fewer than `limit` when none is left
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
 * Works on items one after the other, also on those behind one that fails: each has a transaction of its own.
 * @param given.failed is called with each failure
 * @throws the signal's reason; an error that means that Postgres is away, at once; any other, the first of them, once
 * all have had their turn
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
