import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The variables that may be given for one run; null for all of them, as before.
  await knex.raw('alter table routines add column overridable text[]');
  await knex.raw('alter table routine_versions add column overridable text[]');
  // True for a run whose values were given by a caller who may not write routines: they are material, not instructions.
  await knex.raw('alter table runs add column values_fenced boolean not null default false');
}
