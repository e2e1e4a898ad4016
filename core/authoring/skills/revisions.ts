import { authorJson, type Author } from '#core/foundation/audit/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import type { Page } from '#lib/paging.ts';

/**
 * Revision of each custom skill of a run, by skill id. Null for a run that began before revisions were recorded: such a
 * run used revision 1 of each skill.
 */
export type SkillRevisions = Readonly<Record<string, number>> | null;

/** A text that a custom skill has or had. */
export interface SkillRevision {
  readonly revision: number;
  readonly name: string;
  readonly instructions: string;
  /** Person or API key that made the revision, with their present name; null when unknown. */
  readonly createdBy: Author | null;
  readonly createdAt: Date;
  /** Fields that differ from the revision before; empty for the first revision. */
  readonly changed: readonly ('name' | 'instructions')[];
}

/** Lists the revisions of a skill, the newest first; the page's cursor is a revision. */
export function listRevisions(db: Db, skill: { projectId: string; id: string }, page: Page): Promise<SkillRevision[]> {
  const before = page.after === undefined ? null : Number(page.after);
  return db.rows<SkillRevision>`
    select r.revision, r.name, r.instructions,
      ${authorJson({ createdBy: sql`r.created_by`, projectId: sql`r.project_id` })} as "createdBy",
      r.created_at as "createdAt",
      array_remove(array[case when r.name <> p.name then 'name' end,
        case when r.instructions <> p.instructions then 'instructions' end], null) as changed
    from skill_revisions r
    left join skill_revisions p on p.skill_id = r.skill_id and p.revision = r.revision - 1
    where r.skill_id = ${skill.id} and r.project_id = ${skill.projectId}
      and (${before}::integer is null or r.revision < ${before})
    order by r.revision desc limit ${page.limit + 1}
  `;
}

/** Finds custom skills of the project by id, each with the text of the given revision; deleted skills are left out. */
export async function findProvenSkills(
  db: Db,
  projectId: string,
  ids: readonly string[],
  proven: SkillRevisions,
): Promise<{ id: string; name: string; instructions: string; revision: number }[]> {
  const wanted = ids.flatMap((id) => {
    const revision = proven === null ? 1 : proven[id];
    return revision === undefined ? [] : [{ id, revision }];
  });
  if (wanted.length === 0) return [];
  return db.rows`
    select s.id, r.name, r.instructions, w.revision
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(id text, revision integer)
    join skills s on s.id = w.id and s.project_id = ${projectId} and s.deleted_at is null
    join skill_revisions r on r.skill_id = s.id and r.revision = w.revision and r.project_id = s.project_id
  `;
}

/** A custom skill whose newest text a routine does not run yet. */
export interface SkillBehind {
  readonly skill: string;
  readonly name: string;
  readonly activated: number;
  /** Revision in the latest proof; null without a proof, or if the proof did not have the skill. */
  readonly proven: number | null;
  readonly newest: number;
}

/** Finds the skills with a newer revision than the routine's scheduled runs take. */
export async function skillsBehind(
  db: Db,
  projectId: string,
  references: readonly string[],
  { active, proven }: { readonly active: SkillRevisions; readonly proven: SkillRevisions },
): Promise<SkillBehind[]> {
  if (references.length === 0) return [];
  const found = await db.rows<{ skill: string; name: string; newest: number }>`
    select id as skill, name, revision as newest from skills
    where project_id = ${projectId} and id = any(${references}) and deleted_at is null
    order by array_position(${references}::text[], id)
  `;
  const revisionIn = (revisions: SkillRevisions, skill: string) => (revisions === null ? 1 : revisions[skill]);
  return found.flatMap(({ skill, name, newest }) => {
    const activated = revisionIn(active, skill);
    if (activated === undefined || activated >= newest) return [];
    return [{ skill, name, activated, proven: revisionIn(proven, skill) ?? null, newest }];
  });
}

/** Active routines whose scheduled runs take a revision of a skill. */
interface RevisionInUse {
  readonly revision: number;
  readonly routines: number;
}

/** Counts the active routines with a skill by the revision that their runs use, newest revision first. */
export function revisionsInUse(db: Db, skill: { projectId: string; id: string }): Promise<RevisionInUse[]> {
  return db.rows<RevisionInUse>`
    select case when v.active_skills is null then 1 else (v.active_skills ->> ${skill.id})::integer end as revision,
      count(*)::integer as routines
    from routines r join routine_versions v on v.routine_id = r.id and v.revision = r.revision
    where r.project_id = ${skill.projectId} and r.state = 'active' and r.skills ? ${skill.id}
      and (v.active_skills is null or v.active_skills ? ${skill.id})
    group by 1 order by 1 desc
  `;
}

/** Number of newest revisions of a skill that are always kept. */
export const KEPT_REVISIONS = 100;

/** Number of changes between two searches for old revisions. A search reads the runs of the routines with the skill. */
const FORGET_EVERY = 20;

/**
 * Deletes the revisions of a skill beyond the newest hundred, because a program can change a skill ten times a second.
 * Keeps each revision that a stored run was given, or that the proof or the activation of a routine names.
 */
export async function forgetRevisions(
  tx: Db,
  skill: { readonly projectId: string; readonly id: string; readonly revision: number },
): Promise<void> {
  const { projectId, id, revision } = skill;
  if (revision <= KEPT_REVISIONS || revision % FORGET_EVERY !== 0) return;
  await tx.run`
    with users as (
      select routine_id, active_skills, proof_skills from routine_versions
      where project_id = ${projectId} and skills ? ${id}
    ), named as (
      select coalesce((active_skills ->> ${id})::integer, 1) as revision from users
      union select coalesce((proof_skills ->> ${id})::integer, 1) from users
      union select (runs.skill_revisions ->> ${id})::integer from runs
      where runs.project_id = ${projectId} and runs.routine_id in (select routine_id from users)
        and runs.skill_revisions ? ${id}
    )
    delete from skill_revisions
    where skill_id = ${id} and project_id = ${projectId} and revision <= ${revision - KEPT_REVISIONS}
      and revision not in (select named.revision from named)
  `;
}
