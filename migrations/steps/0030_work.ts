import type { Knex } from 'knex';

/**
 * One queue of due work. Until now each kind kept its due time, lease and attempts in the rows of its own table. One
 * more release reads those columns, and moves the work that the previous release left there.
 *
 * Locks: none on other tables, as the table is new and refers to none.
 */
export async function up(knex: Knex): Promise<void> {
  // A row is due at due_at, which is also the end of the lease of an attempt. A row with failed_at was given up and
  // waits for an operator. The table is vacuumed early, as runs are.
  await knex.raw(`
    create table work (
      kind text not null,
      key text not null,
      -- Those who share the queue of a kind fairly: organizations, or one and the same for all.
      turn text not null default '',
      due_at timestamptz(3) not null,
      attempts integer not null default 0,
      payload jsonb not null default '{}',
      error text,
      created_at timestamptz(3) not null default now(),
      failed_at timestamptz(3),
      primary key (kind, key)
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
    create index work_due_idx on work (kind, turn, due_at) where failed_at is null;
    create index work_failed_idx on work (failed_at) where failed_at is not null;
  `);
}
