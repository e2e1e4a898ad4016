import { authorJson, recordProjectAudit, type Actor, type Author } from '#core/foundation/audit/index.ts';
import { deleteBatch, sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { driftOf, freeKey, nameColumns, type ExternalName } from '#lib/external-keys.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertWithinQuota } from '#lib/quota.ts';
import { forgetRevisions } from './revisions.ts';

export interface CustomSkill extends ExternalName {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly instructions: string;
  readonly driftedAt: Date | null;
  /** The author of the last change made outside the files. */
  readonly driftedBy: Author | null;
  /** Revision number: counts the changes of name and instructions. */
  readonly revision: number;
  /** Version number: counts every change, and serves as the `ETag`. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A custom skill in lists, without its instructions. */
interface CustomSkillSummary extends Omit<CustomSkill, 'instructions'> {
  /** The length of the instructions in UTF-16 code units, as the limits count it. */
  readonly length: number;
}

const shortColumns = sql`id, external_key as "externalKey", managed_by as "managedBy",
  managed_from as "managedFrom", drifted_at as "driftedAt",
  ${authorJson({ createdBy: sql`skills.drifted_by`, projectId: sql`skills.project_id` })} as "driftedBy", name,
  description, revision, version, created_at as "createdAt", updated_at as "updatedAt"`;
const columns = sql`${shortColumns}, instructions`;

/**
 * Adds one for each character outside the Basic Multilingual Plane: JavaScript counts such a character twice, Postgres
 * once.
 */
const summaryColumns = sql`${shortColumns},
  length(instructions) + regexp_count(instructions, '[\\U00010000-\\U0010FFFF]') as length`;

export interface SkillFields extends ExternalName {
  readonly name: string;
  readonly description: string | null;
  readonly instructions: string;
}

const MAX_SKILLS = 1_000;

/** Creates a custom skill. @throws {AppError} `limit_reached`, `external_key_taken` */
export async function createSkill(
  database: Database,
  by: Actor,
  input: SkillFields & { id: string; projectId: string },
): Promise<CustomSkill> {
  const { id, projectId } = input;
  const counted = sql`select from skills where project_id = ${projectId} and deleted_at is null and id <> ${id}`;
  await assertWithinQuota(database, { counted, max: MAX_SKILLS, what: 'custom skills' });
  const created = await transaction(database, async (tx) => {
    const inserted = await freeKey(
      tx.row<CustomSkill>`
        with written as (
          insert into skills (id, project_id, name, description, instructions, external_key, managed_by,
            managed_from)
          values (${id}, ${projectId}, ${input.name}, ${input.description}, ${input.instructions},
            ${input.externalKey}, ${input.managedBy}, ${input.managedBy && input.managedFrom})
          on conflict (id) do nothing
          returning *
        ), kept as (${keepRevision(by)})
        select ${columns} from written skills
      `,
    );
    if (inserted === undefined) return undefined;
    await recordProjectAudit(tx, { by, projectId, action: 'skill.created', targetId: id });
    return inserted;
  });
  return created ?? readCustomSkill(database, projectId, id);
}

function keepRevision(by: Actor): Sql {
  return sql`insert into skill_revisions (skill_id, revision, project_id, name, instructions, created_by)
          select id, revision, project_id, name, instructions, ${by.id} from written
          on conflict do nothing`;
}

export function listCustomSkills(
  db: Db,
  projectId: string,
  filter: {
    readonly externalKey: string | undefined;
    readonly managedBy: CustomSkill['managedBy'] | undefined;
    readonly page: Page;
  },
): Promise<CustomSkillSummary[]> {
  const { externalKey = null, managedBy = null, page } = filter;
  return db.rows<CustomSkillSummary>`
    select ${summaryColumns} from skills
    where project_id = ${projectId} and deleted_at is null
      and (${externalKey}::text is null or external_key = ${externalKey})
      and (${managedBy}::text is null or managed_by = ${managedBy}) ${afterCursor(page)}
    order by id desc limit ${page.limit + 1}
  `;
}

/** Reads a custom skill. @throws {AppError} `skill_not_found` */
export async function readCustomSkill(db: Db, projectId: string, id: string): Promise<CustomSkill> {
  const [found] = await findCustomSkills(db, projectId, [id]);
  if (found === undefined) throw new AppError('skill_not_found');
  return found;
}

export function findSkillByKey(db: Db, projectId: string, externalKey: string): Promise<CustomSkill | undefined> {
  return db.row<CustomSkill>`
    select ${columns} from skills
    where project_id = ${projectId} and external_key = ${externalKey} and deleted_at is null
  `;
}

/** Finds the project's custom skills among the ids, in any order; deleted skills are left out. */
export async function findCustomSkills(db: Db, projectId: string, ids: readonly string[]): Promise<CustomSkill[]> {
  if (ids.length === 0) return [];
  return db.rows<CustomSkill>`
    select ${columns} from skills
    where project_id = ${projectId} and id = any(${ids}) and deleted_at is null
  `;
}

/** Finds the same skills as `findCustomSkills`, without their instructions. */
export async function findCustomSummaries(
  db: Db,
  projectId: string,
  ids: readonly string[],
): Promise<CustomSkillSummary[]> {
  if (ids.length === 0) return [];
  return db.rows<CustomSkillSummary>`
    select ${summaryColumns} from skills
    where project_id = ${projectId} and id = any(${ids}) and deleted_at is null
  `;
}

/**
 * Changes the given fields of a custom skill. A changed name or text makes a new revision. Scheduled runs take the
 * revision only after a manual run and an activation of their routine.
 * @throws {AppError} `skill_not_found`, `precondition_failed`, `external_key_taken`
 */
export function updateSkill(
  database: Database,
  by: Actor,
  input: {
    id: string;
    projectId: string;
    patch: Partial<SkillFields>;
    /** The versions that the caller expects; undefined for any. */
    expectedVersions: readonly number[] | undefined;
    /** True when the skill's manager sets its whole content. */
    isPut?: true;
  },
): Promise<CustomSkill> {
  const { id, projectId, patch, expectedVersions } = input;
  return transaction(database, async (tx) => {
    const before = await tx.rowOr<CustomSkill>('skill_not_found')`
      select ${columns} from skills
      where id = ${id} and project_id = ${projectId} and deleted_at is null for update
    `;
    if (expectedVersions?.includes(before.version) === false) throw new AppError('precondition_failed');
    const after = { ...before, ...patch };
    const isNew = after.name !== before.name || after.instructions !== before.instructions;
    const revision = before.revision + (isNew ? 1 : 0);
    const drift = driftOf(before, after, { managedBy: patch.managedBy, isPut: input.isPut === true });
    const skill = await freeKey(
      tx.row<CustomSkill>`
        with written as (
          update skills set
            name = ${after.name}, description = ${after.description}, instructions = ${after.instructions},
            ${nameColumns(after, drift, by.id)}
            revision = ${revision}, version = version + 1, updated_at = now()
          where id = ${id} and project_id = ${projectId}
          returning *
        ), kept as (${keepRevision(by)})
        select ${columns} from written skills
      `,
    );
    if (skill === undefined) throw new AppError('skill_not_found');
    if (isNew) await forgetRevisions(tx, { id, projectId, revision });
    const details = { revision, newRevision: isNew };
    await recordProjectAudit(tx, { by, projectId, action: 'skill.changed', targetId: id, details });
    return skill;
  });
}

/**
 * Deletes a custom skill. Routines keep their reference to the skill, but runs skip the skill.
 * @throws {AppError} `skill_not_found`
 */
export function deleteSkill(database: Database, by: Actor, projectId: string, id: string): Promise<CustomSkill> {
  return transaction(database, async (tx) => {
    const deleted = await tx.rowOr<CustomSkill>('skill_not_found')`
      update skills set deleted_at = now()
      where id = ${id} and project_id = ${projectId} and deleted_at is null
      returning ${columns}
    `;
    await recordProjectAudit(tx, { by, projectId, action: 'skill.deleted', targetId: id });
    return deleted;
  });
}

/** Deletes at most `limit` rows of custom skills that were deleted a month ago, and returns their number. */
export function forgetDeletedSkills(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'skills',
    where: sql`deleted_at < now() - interval '30 days'`,
    orderBy: sql`deleted_at`,
    limit,
  });
}

/** Deletes at most `limit` custom skills of deleted projects, and returns their number. */
export function forgetSkillsOf(db: Db, projectIds: readonly string[], limit: number): Promise<number> {
  return db.run`
    with own as (
      (select id from skills where project_id = any(${projectIds}) and deleted_at is null limit ${limit})
      union all
      (select id from skills where project_id = any(${projectIds}) and deleted_at is not null limit ${limit})
      limit ${limit}
    )
    delete from skills t using own where t.id = own.id
  `;
}
