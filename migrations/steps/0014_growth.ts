import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A page of a routine's rare runs, like the cancelled ones, would be read past all of its others. Open runs have an
  // index of their own, so a run is entered once, when it ends. With the project in front the planner expects the rows
  // of a page side by side, and does not read the state's index of the whole project instead.
  await knex.raw(`
    create index runs_routine_ended_idx on runs (project_id, routine_id, state, id desc)
      where state in ('succeeded', 'failed', 'cancelled', 'skipped');
  `);

  // Cancellations that a workflow has not obeyed yet; the sweep repeats them before anything else.
  await knex.raw(`
    create index runs_cancelling_idx on runs (cancel_requested_at)
      where state in ('queued', 'running') and cancel_requested_at is not null;
  `);
}
