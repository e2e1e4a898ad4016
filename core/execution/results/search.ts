import { raw, sql, type Sql } from '#lib/database/index.ts';

/** Runs that one page of a search, a filter or a count looks at. */
export const MAX_LOOKED_AT = 1_000;

/** Characters of a result that are searched. */
const SEARCHED = 20_000;

/** Writes the condition that a run has a text in it, in any case: there `%` and `_` are signs like all others. */
export function says(q: string, runs: 'runs' | 'classified'): Sql {
  const table = raw(runs);
  return sql`position(lower(${q}) in lower(concat_ws(' ',
    (select name from routines where id = ${table}.routine_id and project_id = ${table}.project_id),
    ${table}.outcome_summary, ${table}.error_message, left(${table}.result, ${SEARCHED})))) > 0`;
}
