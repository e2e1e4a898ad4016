import type { Knex } from 'knex';

/**
 * The latest proposal of each routine: a change that a run tries while scheduled runs use the proven version. The
 * version of a proposal has a negative revision until the routine takes it over, so that a release without proposals
 * never reads it.
 *
 * Locks: share row exclusive on routines, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table routine_proposals (
      routine_id text primary key references routines (id) on delete cascade,
      id text not null unique,
      project_id text not null,
      run_id text not null,
      revision integer not null default -1,
      -- The revision of the routine that the change was made from.
      base_revision integer not null,
      -- What it changes beside its version, and its author, until it is taken over or dropped.
      settings jsonb,
      author jsonb,
      state text not null default 'open' check (state in ('open', 'taken', 'dropped')),
      reason text,
      created_at timestamptz(3) not null default now(),
      ended_at timestamptz(3)
    );
    create index routine_proposals_open_idx on routine_proposals (run_id) where state = 'open';
  `);
}
