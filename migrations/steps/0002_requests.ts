import type { Knex } from 'knex';

/** Traces of a request besides its effect: counts against limits, and responses for those that repeat it. */
export async function up(knex: Knex): Promise<void> {
  // Unlogged: a count of some minutes is worth nothing after a crash, and each request writes one.
  await knex.raw(`
    create unlogged table rate_limits (
      credential text primary key,
      window_start timestamptz(3) not null,
      count integer not null
    ) with (fillfactor = 50);
  `);

  await knex.raw(`
    create table idempotency_keys (
      scope text not null,
      key text not null,
      request_hash bytea not null,
      seed text not null,
      status integer,
      -- Sealed, since the response may hold a secret that is shown once.
      answer text,
      locked_until timestamptz(3) not null,
      created_at timestamptz(3) not null default now(),
      primary key (scope, key)
    );
    create index idempotency_keys_created_idx on idempotency_keys (created_at);
  `);
}
