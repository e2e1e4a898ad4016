import { recordAudit, type Actor } from '#core/audit/index.ts';
import {
  execute,
  row,
  rows,
  sql,
  transaction,
  type Database,
  type Db,
  type Sql,
} from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertAdmin, lockOrganization, type Role } from './roles.ts';

/** Plans that an organization can have paid for; null in its row means none. */
export type PaidPlan = 'starter' | 'pro' | 'scale';

/**
 * Returns the plan that a row of `organizations` has paid for, as an SQL expression. It ends by itself with what was paid
 * for, so that neither a tick nor the processor has to take it away.
 */
export function paidPlanOf(organization: Sql): Sql {
  return sql`(case when ${organization}.paid_until > now() then ${organization}.paid_plan end)`;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
}

export interface Project {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAt: Date;
}

const projectColumns = sql`p.id, p.organization_id as "organizationId", p.name, p.created_at as "createdAt"`;

/**
 * Creates the organization, its founder's ownership and its default project together. Ids that exist already come from
 * an earlier attempt of the same request whose response was lost; its organization is returned.
 */
async function createOrganization(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; projectId: string; name: string },
): Promise<{ organization: Organization; project: Project }> {
  const { id: organizationId, projectId } = input;
  const organization = await row<{ createdAt: Date; isNew: boolean }>(
    tx,
    sql`
      insert into organizations as o (id, name, founded_by) values (${organizationId}, ${input.name}, ${by.id})
      on conflict (id) do update set name = o.name
      returning created_at as "createdAt", xmax = 0 as "isNew"
    `,
  );
  if (organization === undefined) throw new AppError('internal_error');
  await execute(
    tx,
    sql`
      insert into memberships (organization_id, user_id, role)
      values (${organizationId}, ${by.id}, 'owner')
      on conflict (user_id, organization_id) do nothing
    `,
  );
  const project = await insertProject(tx, { id: projectId, organizationId, name: 'Default' });
  const { createdAt, isNew } = organization;
  if (isNew) {
    await recordAudit(tx, {
      organizationId,
      by,
      action: 'organization.created',
      targetId: organizationId,
      details: { name: input.name },
    });
  }
  return {
    organization: { id: organizationId, name: input.name, role: 'owner', createdAt },
    project,
  };
}

/**
 * Creates an organization for a person who has not founded too many. Deleted ones count for a month, so that spending
 * limits of an organization are not passed by making the next one.
 * @throws {AppError} `limit_reached`
 */
export async function foundOrganization(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; projectId: string; name: string },
  { maxOrganizations }: { maxOrganizations: number },
): Promise<{ organization: Organization; project: Project }> {
  await lockFounder(tx, by.id);
  if ((await countFounded(tx, by.id, input.id)) >= maxOrganizations) {
    throw new AppError(
      'limit_reached',
      `A person may found at most ${maxOrganizations} organizations.`,
    );
  }
  return createOrganization(tx, by, input);
}

/** Counts the organizations that a person has founded, but for one that is about to be founded. */
async function countFounded(tx: Db, userId: string, except: string | null): Promise<number> {
  const found = await row<{ founded: number }>(
    tx,
    sql`
      select count(*) as founded from organizations
      where founded_by = ${userId} and id is distinct from ${except}
        and (deleted_at is null or deleted_at > now() - interval '30 days')
    `,
  );
  return found?.founded ?? 0;
}

/**
 * Gives a person who belongs nowhere an organization of their own. Runs on each sign-in, so that a crash between the
 * account and its organization is made good; the lock keeps two sign-ins from making two. A person who has founded as
 * many as one may belongs nowhere until somebody invites them: deleting one and signing in again founds no further one.
 * @param options.address of the person who signs in
 */
export async function ensureOrganization(
  database: Database,
  user: { id: string; name: string },
  { address, maxOrganizations }: { address: string | null; maxOrganizations: number },
): Promise<void> {
  await transaction(database, async (tx) => {
    await lockFounder(tx, user.id);
    const member = await row(
      tx,
      sql`
        select 1 from memberships m join organizations o on o.id = m.organization_id
        where m.user_id = ${user.id} and o.deleted_at is null limit 1
      `,
    );
    if (member !== undefined) return;
    if ((await countFounded(tx, user.id, null)) >= maxOrganizations) return;
    const by = { kind: 'person', id: user.id, address } as const;
    await createOrganization(tx, by, {
      id: newId('organization'),
      projectId: newId('project'),
      name: `${user.name}'s organization`,
    });
  });
}

/** Has the organizations that a person founds come one after another. */
async function lockFounder(tx: Db, userId: string): Promise<void> {
  await row(tx, sql`select pg_advisory_xact_lock(hashtextextended(${userId}, 0))`);
}

export function listOrganizations(db: Db, userId: string, page: Page): Promise<Organization[]> {
  return rows<Organization>(
    db,
    sql`
      select o.id, o.name, m.role, o.created_at as "createdAt"
      from memberships m join organizations o on o.id = m.organization_id
      where m.user_id = ${userId} and o.deleted_at is null ${afterCursor(page, sql`o.id`)}
      order by o.id desc limit ${page.limit + 1}
    `,
  );
}

/** Lists the projects of all the person's organizations, or of one of them; none of a foreign organization. */
export function listProjects(
  db: Db,
  input: { userId: string; organizationId: string | undefined; page: Page },
): Promise<Project[]> {
  const organizationId = input.organizationId ?? null;
  return rows<Project>(
    db,
    sql`
      select ${projectColumns}
      from memberships m join projects p on p.organization_id = m.organization_id
      where m.user_id = ${input.userId} and p.deleted_at is null
        and (${organizationId}::text is null or p.organization_id = ${organizationId})
        ${afterCursor(input.page, sql`p.id`)}
      order by p.id desc limit ${input.page.limit + 1}
    `,
  );
}

/** The most projects of an organization, so that no list grows without end. */
const MAX_PROJECTS = 200;

/** The most that it ever has: the rows of deleted projects are kept. */
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
  const { projects = 0, ever = 0 } =
    (await row<{ projects: number; ever: number }>(
      tx,
      sql`
        select count(*) filter (where deleted_at is null) as projects, count(*) as ever from projects
        where organization_id = ${organizationId} and id <> ${id}
      `,
    )) ?? {};
  if (ever >= MAX_PROJECTS_EVER) {
    throw new AppError(
      'limit_reached',
      `An organization has at most ${MAX_PROJECTS_EVER} projects, deleted ones included.`,
    );
  }
  if (projects >= MAX_PROJECTS) {
    throw new AppError('limit_reached', `An organization has at most ${MAX_PROJECTS} projects.`);
  }
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

async function insertProject(
  tx: Db,
  input: { id: string; organizationId: string; name: string },
): Promise<Project> {
  const created = await row<Project>(
    tx,
    sql`
      insert into projects as p (id, organization_id, name)
      values (${input.id}, ${input.organizationId}, ${input.name})
      on conflict (id) do update set name = p.name
      returning ${projectColumns}
    `,
  );
  if (created === undefined) throw new AppError('internal_error');
  return created;
}
