import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertWithinKeptQuota } from '#lib/quota.ts';
import { admitted, assertAdmin, lacksSecondFactor, lockOrganization } from './roles.ts';

export interface Project {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** True for the demo project of a local start. */
  readonly isDemo: boolean;
  readonly createdAt: Date;
}

const projectColumns = sql`
  p.id, p.organization_id as "organizationId", p.name, p.is_demo as "isDemo", p.created_at as "createdAt"
`;

/** Lists a person's projects: of one organization, or of all organizations that the person belongs to. */
export function listProjects(
  db: Db,
  input: { userId: string; organizationId: string | undefined; page: Page },
): Promise<Project[]> {
  const organizationId = input.organizationId ?? null;
  return db.rows<Project>`
    select ${projectColumns}
    from memberships m join projects p on p.organization_id = m.organization_id
    where m.user_id = ${input.userId} and p.deleted_at is null
      and (${organizationId}::text is null or p.organization_id = ${organizationId})
      ${afterCursor(input.page, sql`p.id`)}
    order by p.id desc limit ${input.page.limit + 1}
  `;
}

/**
 * Finds a project of one of the person's organizations. @throws {AppError} `project_not_found`,
 * `second_factor_required`
 */
export async function findProject(db: Db, key: { userId: string; id: string }): Promise<Project> {
  const found = await db.row<Project & { readonly lacks: boolean }>`
    select ${projectColumns}, ${lacksSecondFactor(sql`o`, key.userId)} as lacks
    from memberships m join organizations o on o.id = m.organization_id
    join projects p on p.organization_id = o.id
    where m.user_id = ${key.userId} and p.id = ${key.id} and p.deleted_at is null
  `;
  return admitted(found, 'project_not_found');
}

/** The most projects of an organization, so that every list of projects is bounded. */
const MAX_PROJECTS = 200;

/** The most projects that an organization ever has: the rows of deleted projects are kept. */
const MAX_PROJECTS_EVER = 2_000;

/**
 * Creates a project of the organization.
 * @throws {AppError} `organization_not_found` when the person does not belong to it, `forbidden` when they are
 * neither owner nor admin, `limit_reached`
 */
export async function createProject(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; organizationId: string; name: string },
): Promise<Project> {
  const { id, organizationId, name } = input;
  await lockOrganization(tx, organizationId);
  await assertAdmin(tx, { organizationId, userId: by.id });
  await assertRoomForProject(tx, { id, organizationId });
  const project = await insertProject(tx, input);
  await recordAudit(tx, {
    organizationId,
    projectId: id,
    by,
    action: 'project.created',
    targetId: id,
    details: { name },
  });
  return project;
}

async function assertRoomForProject(
  tx: Db,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
): Promise<void> {
  await assertWithinKeptQuota(tx, {
    holder: 'organization',
    all: sql`select from projects where organization_id = ${organizationId} and id <> ${id}`,
    ever: { max: MAX_PROJECTS_EVER, what: 'projects, deleted ones included' },
    live: {
      where: sql`deleted_at is null`,
      max: MAX_PROJECTS,
      what: 'projects',
      remedy: 'delete one first',
    },
  });
}

/** Mail settings of a new project: its owners get mail about failures. */
const MAIL_OF_NEW = JSON.stringify({ on: ['failed', 'paused'], to: 'owners' });

/**
 * Inserts a project. If the id exists, an earlier attempt of the same request has inserted the project: returns that
 * project.
 */
export function insertProject(tx: Db, input: { id: string; organizationId: string; name: string }): Promise<Project> {
  return tx.rowOr<Project>('internal_error')`
    insert into projects as p (id, organization_id, name, notify_mail)
    values (${input.id}, ${input.organizationId}, ${input.name}, ${MAIL_OF_NEW}::jsonb)
    on conflict (id) do update set name = p.name
    returning ${projectColumns}
  `;
}

/**
 * Locks a project against its deletion until the end of the transaction. A deletion erases only the credentials and
 * keys that it finds, so a later credential would stay.
 * @throws {AppError} `project_not_found`
 */
export async function holdProject(tx: Db, projectId: string): Promise<void> {
  const held = await tx.row`select 1 from projects where id = ${projectId} and deleted_at is null for share`;
  if (held === undefined) throw new AppError('project_not_found');
}
