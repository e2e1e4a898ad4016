import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The latest runs of a routine, and its proof, are the first entries of these. The indexes before began with their
  // project, or had no id: Postgres then took the index of all runs of the project or of the routine for a short cut,
  // and read them all where this routine had none. They go last, as runs cannot even be read from then on.
  await knex.raw(`
    create index runs_routine_state_idx on runs (routine_id, state, id desc)
      where state in ('succeeded', 'failed', 'cancelled', 'skipped');
    create index runs_routine_proof_idx on runs (routine_id, routine_revision, id desc)
      where trigger = 'manual' and state = 'succeeded';
    drop index runs_routine_ended_idx;
    drop index runs_proof_idx;
  `);
}
