import { sql } from '#lib/database/index.ts';

/** The age in seconds of the oldest mail that has not been sent, as an SQL expression; 0 when there is none. */
export const oldestUnsentMail = sql`coalesce((
  select extract(epoch from now() - min(created_at)) from outbox where state = 'pending' and channel = 'mail'
), 0)::float8`;
