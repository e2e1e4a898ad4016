import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The form of a result is material; who is told of a run is not. A schema is `json`, which keeps the order of its
  // properties: models write them in that order.
  await knex.raw(`
    alter table routines
      add column result_schema json,
      add column result_key jsonb,
      add column deliver text not null default 'always' check (deliver in ('always', 'changed', 'failed'));
    alter table routine_versions
      add column result_schema json,
      add column result_key jsonb;
  `);

  // The data of a run, what changed since the run that it was compared with, and why no webhook was told of it. Runs are
  // compared one after the other; `compared_at` is that order, to the microsecond.
  await knex.raw(`
    alter table runs
      add column data jsonb,
      add column changes jsonb,
      add column compared_with text,
      add column compared_at timestamptz,
      add column unchanged_runs integer,
      add column withheld text;
    create index runs_data_idx on runs (routine_id, compared_at desc) where data is not null;
  `);
}
