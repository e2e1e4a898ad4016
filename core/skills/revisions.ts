import { rows, sql, type Db } from '#lib/database/index.ts';
import type { Page } from '#lib/paging.ts';

/**
 * The revision of each custom skill that a run was made with, by skill id. Null for what was made before revisions were
 * kept, which stands for revision 1 of each.
 */
export type SkillRevisions = Readonly<Record<string, number>> | null;

/** A text that a custom skill has or had. */
export interface SkillRevision {
  readonly revision: number;
  readonly name: string;
  readonly instructions: string;
  /** The person or the API key that made it, by their present name; null when it is not on record. */
  readonly createdBy: {
    readonly kind: 'person' | 'key';
    readonly id: string;
    readonly name: string | null;
  } | null;
  readonly createdAt: Date;
  /** Fields that differ from the revision before; empty for the first one. */
  readonly changed: readonly ('name' | 'instructions')[];
}

/** Lists the revisions of a skill, the newest first; the page's cursor is a revision. */
export function listRevisions(
  db: Db,
  skill: { projectId: string; id: string },
  page: Page,
): Promise<SkillRevision[]> {
  const before = page.after === undefined ? null : Number(page.after);
  return rows<SkillRevision>(
    db,
    sql`
      select r.revision, r.name, r.instructions, 
        case when starts_with(r.created_by, 'key_') then jsonb_build_object('kind', 'key', 'id', r.created_by, 'name',
            (select k.name from api_keys k where k.id = r.created_by and k.project_id = r.project_id))
          when r.created_by is not null then jsonb_build_object('kind', 'person', 'id', r.created_by, 'name',
            (select u.name from users u where u.id = r.created_by))
        end as "createdBy", r.created_at as "createdAt",
        array_remove(array[case when r.name <> p.name then 'name' end,
          case when r.instructions <> p.instructions then 'instructions' end], null) as changed
      from skill_revisions r
      left join skill_revisions p on p.skill_id = r.skill_id and p.revision = r.revision - 1
      where r.skill_id = ${skill.id} and r.project_id = ${skill.projectId}
        and (${before}::integer is null or r.revision < ${before})
      order by r.revision desc limit ${page.limit + 1}
    `,
  );
}

/** Finds the project's custom skills among the ids with these revisions of their texts; deleted ones are left out. */
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
  return rows(
    db,
    sql`
      -- The release before makes skills without a revision; their only text stands in for it.
      select s.id, coalesce(r.name, s.name) as name, coalesce(r.instructions, s.instructions) as instructions, w.revision
      from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(id text, revision integer)
      join skills s on s.id = w.id and s.project_id = ${projectId} and s.deleted_at is null
      left join skill_revisions r on r.skill_id = s.id and r.revision = w.revision and r.project_id = s.project_id
      where r.skill_id is not null or w.revision = 1
    `,
  );
}

/** A custom skill whose newest text a routine does not run yet. */
export interface SkillBehind {
  readonly skill: string;
  readonly activated: number;
  readonly newest: number;
}

/** Finds those of the skills that have a newer revision than the activated one. */
export async function skillsBehind(
  db: Db,
  projectId: string,
  references: readonly string[],
  activated: SkillRevisions,
): Promise<SkillBehind[]> {
  if (references.length === 0) return [];
  const found = await rows<{ skill: string; newest: number }>(
    db,
    sql`
      select id as skill, revision as newest from skills
      where project_id = ${projectId} and id = any(${references}) and deleted_at is null
      order by array_position(${references}::text[], id)
    `,
  );
  return found.flatMap(({ skill, newest }) => {
    const revision = activated === null ? 1 : activated[skill];
    return revision === undefined || revision >= newest
      ? []
      : [{ skill, activated: revision, newest }];
  });
}
