import type { Knex } from 'knex';

/** An organization may demand a second factor from the people in it; its API keys go on. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table organizations add column requires_second_factor boolean not null default false',
  );
}
