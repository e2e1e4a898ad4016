import type { Knex } from 'knex';

/**
 * The results that each reader of a project has read, and an index of the results that can be read.
 *
 * Locks: the tables are new. Their foreign keys block writers of runs and projects while they are added to empty
 * tables. The index is built beside all writers, at 10 million runs in about a minute.
 */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A reader is a person, or an API key. What ended up to read_until is read, and so is each run of result_reads.
    create table if not exists result_readers (
      project_id text not null references projects (id),
      reader_id text not null,
      read_until timestamptz(3) not null,
      primary key (project_id, reader_id)
    );
    create table if not exists result_reads (
      run_id text not null references runs (id) on delete cascade,
      reader_id text not null,
      primary key (reader_id, run_id)
    );
    create index if not exists result_reads_run_idx on result_reads (run_id);
  `);
  // Drop the invalid index that an interrupted build leaves.
  await knex.raw('drop index concurrently if exists runs_results_idx');
  await knex.raw(`
    create index concurrently runs_results_idx on runs (project_id, finished_at desc, id desc)
      where state in ('succeeded', 'failed') and content_erased_at is null
  `);
}
