import sql, { type Sql } from 'sql-template-tag';

/**
 * Compares the owner of rows so that only an index which begins with that owner puts them in order; `column` is also
 * the first of the order. By `=` the owner would be no part of the order, and where one owner has most of the rows,
 * Postgres takes the index of all ids for a short cut: for an owner that has few, or none, it reads past the rows of
 * all others.
 */
export function ownedBy(column: Sql, owner: Sql | string): Sql {
  return sql`${column} = any(array[${owner}])`;
}
