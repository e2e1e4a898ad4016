import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The mails about failures in the present hour of a project, and whether more have been held back.
  await knex.raw(`
    create table project_mail_turns (
      project_id text primary key references projects (id),
      since timestamptz(3) not null,
      mails integer not null,
      held boolean not null default false
    ) with (fillfactor = 80);
    create index project_mail_turns_held_idx on project_mail_turns (since) where held;
  `);
}
