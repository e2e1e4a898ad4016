import { sql } from '#lib/database/index.ts';

// All times are the database's: workers' clocks may differ.

/** Due from this moment on. The columns round to milliseconds, so a plain `now()` may come out in the future. */
export const AT_ONCE = sql`date_trunc('milliseconds', now())`;

/**
 * For how long a pending delivery is left to whoever is starting its workflow. Shorter than the minute between ticks,
 * so that the next tick tries again when the start failed.
 */
export const START_LEASE = sql`interval '55 seconds'`;

/**
 * For how long an attempt holds its delivery: longer than the activity may take, so that it runs out only when the
 * worker is gone.
 */
export const SENDING_LEASE = sql`interval '60 seconds'`;
