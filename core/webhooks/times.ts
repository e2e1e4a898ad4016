import { sql } from '#lib/database/index.ts';

// All times are the database's: workers' clocks may differ.

/**
 * Leases a pending delivery while its workflow is started. Shorter than the minute between ticks, so that the next tick
 * tries again if the start failed.
 */
export const START_LEASE = sql`interval '55 seconds'`;

/**
 * Leases a delivery to an attempt, for longer than the activity may take, so that it runs out only when the worker is
 * gone.
 */
export const SENDING_LEASE = sql`interval '60 seconds'`;
