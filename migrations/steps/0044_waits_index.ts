import type { Knex } from 'knex';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists runs_waits_idx');
  await knex.raw(`
    create index concurrently runs_waits_idx on runs (organization_id, project_id)
      where state = 'running' and waits_until is not null
  `);
}
