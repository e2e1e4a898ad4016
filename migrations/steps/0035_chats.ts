import type { Knex } from 'knex';

/**
 * Results that are sent to people: chat rooms with their sealed addresses, the deliveries to them, and the recipients
 * of each routine's results.
 *
 * Locks: access exclusive on routines, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table chats (
      id text primary key,
      project_id text not null references projects (id),
      name text not null,
      kind text not null,
      host text not null,
      sealed_url text not null,
      -- Since when the chat has refused for good, and the word that it gave.
      gone_at timestamptz(3),
      gone_reason text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    );
    create index chats_project_idx on chats (project_id, id);
    create table chat_deliveries (
      id text primary key,
      organization_id text not null,
      project_id text not null,
      routine_id text not null,
      run_id text not null,
      chat_id text not null,
      state text not null default 'pending',
      reason text,
      created_at timestamptz(3) not null default now(),
      finished_at timestamptz(3),
      unique (run_id, chat_id)
    );
    create index chat_deliveries_open_idx on chat_deliveries (chat_id) where state = 'pending';
    create table chat_attempts (
      delivery_id text not null references chat_deliveries (id) on delete cascade,
      index integer not null,
      started_at timestamptz(3) not null default now(),
      duration_ms integer,
      status integer,
      error text,
      response_excerpt text,
      primary key (delivery_id, index)
    );
    alter table routines
      add column results_when text not null default 'each',
      add column results_mail jsonb,
      add column results_chats jsonb not null default '[]';
  `);
}
