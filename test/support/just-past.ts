import { sql } from '#lib/database/index.ts';

/**
 * The moment before now, for what is to be due or over at the very next statement. Columns of times round to
 * milliseconds, upwards too, so that a stored `now()` may still lie ahead then.
 */
export const justPast = sql`now() - interval '1 millisecond'`;
