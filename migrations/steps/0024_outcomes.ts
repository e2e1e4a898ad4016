import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Whether runs have to state their outcome, and what code checks when they end. Both are material.
  await knex.raw(`
    alter table routines
      add column outcome text not null default 'optional' check (outcome in ('optional', 'required')),
      add column checks jsonb not null default '[]';
    alter table routine_versions
      add column outcome text not null default 'optional' check (outcome in ('optional', 'required')),
      add column checks jsonb not null default '[]';
  `);

  // A run that succeeded without an outcome of its own, as those of earlier releases did, is read as done. No constraint,
  // which would read the whole table; the few runs with another outcome are found by an index of their own.
  await knex.raw(`
    alter table runs add column outcome text, add column outcome_summary text, add column checks jsonb;
    create index runs_project_outcome_idx on runs (project_id, outcome, id desc)
      where outcome in ('nothing_to_report', 'partial');
  `);
}
