import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // What a run is told of the run before it, and the tools that need no connection. Both are material.
  await knex.raw(`
    alter table routines
      add column carry_result boolean not null default true,
      add column built_in_tools text[] not null default '{}';
    alter table routine_versions
      add column carry_result boolean not null default true,
      add column built_in_tools text[] not null default '{}';
  `);

  // The part of a run's text that is another one in every run. It is kept beside the prompt, so that each step of the
  // run sends the same; a run that was under way before has none.
  await knex.raw('alter table runs add column briefing text');
}
