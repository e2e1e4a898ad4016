import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The person who signed in last: `created_by` stays what it was when another one signs in again.
  await knex.raw('alter table connections add column signed_in_by text');
  await knex.raw("update connections set signed_in_by = created_by where auth = 'oauth'");
}
