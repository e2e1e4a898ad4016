import type { Knex } from 'knex';

/** Passkeys go with the second factor of their person: its recovery codes are the way back from their loss. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table passkeys (
      id text primary key,
      user_id text not null references second_factors (user_id) on delete cascade,
      name text not null,
      public_key bytea not null,
      counter bigint not null,
      created_at timestamptz(3) not null default now(),
      last_used_at timestamptz(3)
    );
    create index passkeys_user_idx on passkeys (user_id);
  `);
}
