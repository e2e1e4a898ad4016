import type { Knex } from 'knex';

/**
 * Questions that runs ask people, and rehearsals.
 *
 * Locks: access exclusive on runs, for an instant. The index of runs is built beside all writers.
 */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table if not exists questions (
      id text primary key,
      project_id text not null,
      routine_id text not null,
      -- The run that asked first, and the last one that asked the same.
      run_id text not null,
      last_run_id text not null,
      times integer not null default 1,
      -- Null once its content is erased, as are its choices, default, answer and digest.
      question text,
      digest text,
      choices jsonb,
      default_answer text,
      -- An open one whose time is over counts as expired.
      state text not null default 'open' check (state in ('open', 'answered', 'expired', 'closed')),
      answer text,
      fenced boolean not null default false,
      answered_by text,
      decided_at timestamptz(3),
      -- The run that the answer has started, or the error code for which it has started none.
      answer_run_id text,
      run_refused text,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default now(),
      last_asked_at timestamptz(3) not null default now()
    );
    create index if not exists questions_project_idx on questions (project_id, id);
    create index if not exists questions_routine_idx on questions (routine_id, id);
    create index if not exists questions_run_idx on questions (run_id);
    create index if not exists questions_last_run_idx on questions (last_run_id);
    create unique index if not exists questions_open_idx on questions (routine_id, digest) where state = 'open';
  `);
  // The constraint applies to new rows without a scan of the old ones.
  await knex.raw(`
    set lock_timeout = '2s';
    alter table runs
      drop constraint if exists runs_trigger_check,
      add constraint runs_trigger_check
        check (trigger in ('schedule', 'manual', 'backfill', 'follow_up', 'rehearsal')) not valid;
    reset lock_timeout;
  `);
  // Drop the invalid index that an interrupted build leaves.
  await knex.raw('drop index concurrently if exists runs_project_rehearsal_idx');
  await knex.raw(
    `create index concurrently runs_project_rehearsal_idx on runs (project_id, id desc) where trigger = 'rehearsal'`,
  );
}
