import { sql } from '#lib/database/index.ts';

/**
 * Whether an open run is in the way of the next occurrence of its routine, as an SQL condition: neither one whose own time
 * has not come, which may be in a year, nor one of a backfill, which comes after everything else.
 */
export const inTheWay = sql`not held and trigger <> 'backfill'`;
