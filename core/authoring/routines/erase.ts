import { sql, type Db } from '#lib/database/index.ts';

/** SQL condition on `routine_versions v`: an open run of the routine needs its version. */
const hasOpenRun = sql`exists (
  select from runs where runs.routine_id = v.routine_id and runs.state in ('queued', 'running'))`;

/** Deletes versions of routines in deleted projects, `limit` at most, except those that open runs need. */
export function forgetVersionsOf(db: Db, projectIds: readonly string[], limit: number): Promise<number> {
  return db.run`
    with old as (
      select v.routine_id, v.revision from routines r join routine_versions v on v.routine_id = r.id
      where r.project_id = any(${projectIds}) and not ${hasOpenRun}
      limit ${limit}
      for update of v skip locked
    )
    delete from routine_versions v using old
    where v.routine_id = old.routine_id and v.revision = old.revision
  `;
}

/**
 * Erases the texts and addresses of at most `limit` routines of deleted projects that have no version left. Schedules,
 * limits and the model stay, because usage is counted by routine.
 */
export function eraseRoutines(db: Db, projectIds: readonly string[], limit: number): Promise<number> {
  return db.run`
    with written as (
      select id from routines r
      where project_id = any(${projectIds}) and ${hasText} and not ${hasVersion}
      limit ${limit}
      for no key update skip locked
    )
    update routines r set name = '', notify_mail = null, success_ping_url = null, results_mail = null, results_chats = '[]',
      definition = jsonb_build_object('instructions', '', 'model', definition -> 'model', 'limits',
      definition -> 'limits'),
      webhook_url = null, webhook_secret = null, webhook_secret_previous = null
    from written where r.id = written.id
  `;
}

/** Finds projects with a routine that still contains text of people. */
export async function projectsWithTexts(db: Db, projectIds: readonly string[]): Promise<string[]> {
  const found = await db.rows<{ id: string }>`
    select distinct project_id as id from routines r
    where project_id = any(${projectIds}) and (${hasText} or ${hasVersion})
  `;
  return found.map(({ id }) => id);
}

/** SQL condition on `routines r`: the routine has not been erased. Only an erased routine has an empty name. */
const hasText = sql`r.name <> ''`;

const hasVersion = sql`exists (select from routine_versions v where v.routine_id = r.id)`;
