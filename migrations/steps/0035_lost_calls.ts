import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // What a call has sent, for when its process dies and nobody else can tell. Null where it counts nothing then: a call on
  // a personal account, which another attempt finds again, or one of the release before.
  await knex.raw(`
    alter table usage_reservations
      add column input_tokens bigint,
      add column input_cost_usd numeric(20, 10)
  `);
}
