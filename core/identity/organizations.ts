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

/** Plans that an organization can have paid for; null in its row means none. */
export type PaidPlan = 'starter' | 'pro' | 'scale';

/**
 * Returns the plan that a row of `organizations` has paid for, as an SQL expression. It ends by itself with what was paid
 * for, so that neither a tick nor the processor has to take it away.
 */
export function paidPlanOf(organization: Sql): Sql {
  return sql`(case when ${organization}.paid_until > now() then ${organization}.paid_plan end)`;
}

export type Role = 'owner' | 'admin' | 'member';

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
 * Creates the organization, its creator's ownership and its default project together. Ids that exist already come from
 * an earlier attempt of the same request whose response was lost; its organization is returned.
 */
export async function createOrganization(
  tx: Db,
  input: { id: string; projectId: string; userId: string; name: string },
): Promise<{ organization: Organization; project: Project }> {
  const { id: organizationId, projectId } = input;
  const organization = await row<{ createdAt: Date }>(
    tx,
    sql`
      insert into organizations as o (id, name) values (${organizationId}, ${input.name})
      on conflict (id) do update set name = o.name
      returning created_at as "createdAt"
    `,
  );
  if (organization === undefined) throw new AppError('internal_error');
  await execute(
    tx,
    sql`
      insert into memberships (organization_id, user_id, role)
      values (${organizationId}, ${input.userId}, 'owner')
      on conflict (user_id, organization_id) do nothing
    `,
  );
  const project = await insertProject(tx, { id: projectId, organizationId, name: 'Default' });
  return {
    organization: { id: organizationId, name: input.name, role: 'owner', ...organization },
    project,
  };
}

/**
 * Gives a person who belongs nowhere an organization of their own. Runs on sign-up and again on each sign-in, so
 * that a crash between the account and its organization is made good; the lock keeps two sign-ins from making two.
 */
export async function ensureOrganization(
  database: Database,
  user: { id: string; name: string },
): Promise<void> {
  await transaction(database, async (tx) => {
    await row(tx, sql`select pg_advisory_xact_lock(hashtextextended(${user.id}, 0))`);
    const member = await row(tx, sql`select 1 from memberships where user_id = ${user.id} limit 1`);
    if (member === undefined) {
      await createOrganization(tx, {
        id: newId('organization'),
        projectId: newId('project'),
        userId: user.id,
        name: `${user.name}'s organization`,
      });
    }
  });
}

export function listOrganizations(db: Db, userId: string, page: Page): Promise<Organization[]> {
  return rows<Organization>(
    db,
    sql`
      select o.id, o.name, m.role, o.created_at as "createdAt"
      from memberships m join organizations o on o.id = m.organization_id
      where m.user_id = ${userId} ${afterCursor(page, sql`o.id`)}
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
      where m.user_id = ${input.userId}
        and (${organizationId}::text is null or p.organization_id = ${organizationId})
        ${afterCursor(input.page, sql`p.id`)}
      order by p.id desc limit ${input.page.limit + 1}
    `,
  );
}

/**
 * Creates a project of the organization.
 * @throws {AppError} `organization_not_found` when the person does not belong to it, `forbidden` when they are
 * neither owner nor admin
 */
export async function createProject(
  tx: Db,
  input: { id: string; userId: string; organizationId: string; name: string },
): Promise<Project> {
  const membership = await row<{ role: Role }>(
    tx,
    sql`
      select role from memberships
      where user_id = ${input.userId} and organization_id = ${input.organizationId} for share
    `,
  );
  if (membership === undefined) throw new AppError('organization_not_found');
  if (membership.role === 'member') {
    throw new AppError('forbidden', 'Creating a project needs the role owner or admin.');
  }
  return insertProject(tx, input);
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
