import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // People put keys into the query of an address: url keeps only its names, and this column the query itself, sealed.
  // A migration has no key to seal with, so the next tick seals the older rows, which it finds by the index.
  await knex.raw(`
    alter table connections add column url_query text;
    create index connections_plain_query_idx on connections (id) where url_query is null and url like '%?%';
  `);
}
