import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // What a routine looks at before it wakes its model; material. On a run, what it saw.
  await knex.raw(`
    alter table routines add column gate jsonb;
    alter table routine_versions add column gate jsonb;
    alter table runs add column gate jsonb;
  `);

  // The value that the last run acted on, as a hash, for the next run of the same version to compare with.
  await knex.raw(`
    create table gate_baselines (
      routine_id text primary key references routines (id),
      project_id text not null references projects (id),
      revision integer not null,
      value_hash text not null,
      is_empty boolean not null,
      etag text,
      asked_at timestamptz(3) not null,
      woke_at timestamptz(3) not null
    );
    create index gate_baselines_project_idx on gate_baselines (project_id);
  `);
}
