import type { Knex } from 'knex';

/** A run that uses this many times the median of its version ends; null for never. Material, as all limits are. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table routines add column abnormal_factor double precision default 5;
    alter table routine_versions add column abnormal_factor double precision default 5;
  `);
}
