import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // `last_step` is the newest time step whose code was used, so that no code is taken twice.
  await knex.raw(`
    create table second_factors (
      user_id text primary key references users (id) on delete cascade,
      secret text not null,
      confirmed_at timestamptz(3),
      last_step bigint,
      created_at timestamptz(3) not null default now()
    );
    create table recovery_codes (
      user_id text not null references second_factors (user_id) on delete cascade,
      hash bytea not null,
      used_at timestamptz(3),
      primary key (user_id, hash)
    );
  `);
  // A sign-in is a proof of who one is; what changes access asks for a new one after a while.
  await knex.raw(`
    alter table sessions add column proven_at timestamptz(3) not null default now();
    update sessions set proven_at = created_at;
  `);
}
