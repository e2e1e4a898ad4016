import { execute, row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';

export interface CustomSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly instructions: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const columns = sql`
  id, name, description, instructions, created_at as "createdAt", updated_at as "updatedAt"
`;

export interface SkillFields {
  readonly name: string;
  readonly description: string | null;
  readonly instructions: string;
}

export async function createSkill(
  db: Db,
  input: SkillFields & { id: string; projectId: string },
): Promise<CustomSkill> {
  const created = await row<CustomSkill>(
    db,
    sql`
      insert into skills (id, project_id, name, description, instructions)
      values (${input.id}, ${input.projectId}, ${input.name}, ${input.description}, ${input.instructions})
      on conflict (id) do nothing
      returning ${columns}
    `,
  );
  return created ?? readCustomSkill(db, input.projectId, input.id);
}

export function listCustomSkills(db: Db, projectId: string, page: Page): Promise<CustomSkill[]> {
  return rows<CustomSkill>(
    db,
    sql`
      select ${columns} from skills
      where project_id = ${projectId} and deleted_at is null ${afterCursor(page)}
      order by id desc limit ${page.limit + 1}
    `,
  );
}

/** @throws {AppError} `skill_not_found` */
export async function readCustomSkill(db: Db, projectId: string, id: string): Promise<CustomSkill> {
  const [found] = await findCustomSkills(db, projectId, [id]);
  if (found === undefined) throw new AppError('skill_not_found');
  return found;
}

/** Those of the ids that are custom skills of the project and not deleted, in no order. */
export async function findCustomSkills(
  db: Db,
  projectId: string,
  ids: readonly string[],
): Promise<CustomSkill[]> {
  if (ids.length === 0) return [];
  return rows<CustomSkill>(
    db,
    sql`
      select ${columns} from skills
      where project_id = ${projectId} and id = any(${ids}) and deleted_at is null
    `,
  );
}

/** @throws {AppError} `skill_not_found` */
export async function updateSkill(
  db: Db,
  input: Partial<SkillFields> & { id: string; projectId: string },
): Promise<CustomSkill> {
  const keepDescription = input.description === undefined;
  const updated = await row<CustomSkill>(
    db,
    sql`
      update skills set
        name = coalesce(${input.name ?? null}, name),
        description = case when ${keepDescription}::boolean then description else ${input.description ?? null} end,
        instructions = coalesce(${input.instructions ?? null}, instructions),
        updated_at = now()
      where id = ${input.id} and project_id = ${input.projectId} and deleted_at is null
      returning ${columns}
    `,
  );
  if (updated === undefined) throw new AppError('skill_not_found');
  return updated;
}

/** Routines keep the reference; a run skips it. @throws {AppError} `skill_not_found` */
export async function deleteSkill(db: Db, projectId: string, id: string): Promise<CustomSkill> {
  const skill = await readCustomSkill(db, projectId, id);
  await execute(
    db,
    sql`update skills set deleted_at = now() where id = ${id} and project_id = ${projectId}`,
  );
  return skill;
}
