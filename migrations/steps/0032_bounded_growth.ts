import type { Knex } from 'knex';

/**
 * Tables whose rows go through states. Small partial indexes find the rows that are in a state, and each row leaves an
 * entry behind in them which every look reads past until the table is vacuumed. By default that is done when a fifth of the
 * table has changed, which of a million runs is an hour of many; here it is a hundredth. The indexes have to be cleaned
 * each time: Postgres leaves that out where dead rows lie in less than a fiftieth of the pages, as they then always do.
 */
const QUEUES = [
  // Waiting, admitted and open runs, which each admission and each end of a run look at.
  'runs',
  // Deliveries that are due, or under way.
  'webhook_deliveries',
  // Mails and pings that wait to be sent.
  'outbox',
  // Due routines: each claim moves the next time of a routine.
  'routines',
  // Calls on accounts that are under way.
  'model_calls',
] as const;

export async function up(knex: Knex): Promise<void> {
  for (const table of QUEUES) {
    await knex.raw(`
      alter table ${table} set (
        autovacuum_vacuum_scale_factor = 0.01,
        autovacuum_vacuum_threshold = 1000,
        vacuum_index_cleanup = on
      )
    `);
  }

  // Deleted projects in which there may be something that people wrote; each leaves the index an hour or more later.
  await knex.raw(`
    alter table projects add column erased_at timestamptz(3);
    create index projects_unerased_idx on projects (id) where deleted_at is not null and erased_at is null;
  `);
}
