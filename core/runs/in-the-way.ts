import { sql } from '#lib/database/index.ts';

/**
 * SQL condition on `runs`: an open run holds up the next occurrence of its routine. A run that is held for a later time
 * does not, as that may be in a year, nor does one of a backfill, which comes after everything else.
 */
export const inTheWay = sql`not held and trigger <> 'backfill'`;
