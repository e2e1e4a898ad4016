import sql from 'sql-template-tag';

/**
 * The present time, for what is to be due or over at once. Columns of times round to milliseconds, upwards too, so that
 * a plain `now()` may lie in the future for half of one.
 */
export const AT_ONCE = sql`date_trunc('milliseconds', now())`;
