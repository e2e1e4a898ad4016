import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { insertProject, type Project } from './projects.ts';
import { admitted, lacksSecondFactor, type Role } from './roles.ts';

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
}

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
  const organization = await tx.row<{ createdAt: Date; isNew: boolean }>`
    insert into organizations as o (id, name, founded_by) values (${organizationId}, ${input.name}, ${by.id})
    on conflict (id) do update set name = o.name
    returning created_at as "createdAt", xmax = 0 as "isNew"
  `;
  if (organization === undefined) throw new AppError('internal_error');
  await tx.run`
    insert into memberships (organization_id, user_id, role)
    values (${organizationId}, ${by.id}, 'owner')
    on conflict (user_id, organization_id) do nothing
  `;
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
 * Creates an organization for a person who has not founded too many. Deleted ones count for a month, so that no one
 * evades the spending limits of an organization by making the next one.
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
    throw new AppError('limit_reached', `A person may found at most ${maxOrganizations} organizations.`);
  }
  return createOrganization(tx, by, input);
}

/** Counts the organizations that a person has founded. @param except the one that is about to be founded */
async function countFounded(tx: Db, userId: string, except: string | null): Promise<number> {
  const found = await tx.row<{ founded: number }>`
    select count(*) as founded from organizations
    where founded_by = ${userId} and id is distinct from ${except}
      and (deleted_at is null or deleted_at > now() - interval '30 days')
  `;
  return found?.founded ?? 0;
}

/**
 * Gives a person who belongs nowhere an organization of their own. Runs on each sign-in, so that a crash between the
 * account and its organization is made good; the lock keeps two sign-ins from making two. A person who has founded as
 * many as allowed belongs nowhere until another person invites them: deleting one and signing in again founds no other.
 * @param options.address of the person who signs in
 */
export async function ensureOrganization(
  database: Database,
  user: { id: string; name: string },
  { address, maxOrganizations }: { address: string | null; maxOrganizations: number },
): Promise<void> {
  await transaction(database, async (tx) => {
    await lockFounder(tx, user.id);
    const member = await tx.row`
      select 1 from memberships m join organizations o on o.id = m.organization_id
      where m.user_id = ${user.id} and o.deleted_at is null limit 1
    `;
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

/** Lets one transaction at a time found an organization of this person. */
async function lockFounder(tx: Db, userId: string): Promise<void> {
  await tx.row`select pg_advisory_xact_lock(hashtextextended(${userId}, 0))`;
}

/**
 * Finds an organization that the person belongs to. @throws {AppError} `organization_not_found`,
 * `second_factor_required`
 */
export async function findOrganization(db: Db, key: { userId: string; id: string }): Promise<Organization> {
  const found = await db.row<Organization & { readonly lacks: boolean }>`
    select o.id, o.name, m.role, o.created_at as "createdAt", ${lacksSecondFactor(sql`o`, key.userId)} as lacks
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${key.userId} and o.id = ${key.id} and o.deleted_at is null
  `;
  return admitted(found, 'organization_not_found');
}

export function listOrganizations(db: Db, userId: string, page: Page): Promise<Organization[]> {
  return db.rows<Organization>`
    select o.id, o.name, m.role, o.created_at as "createdAt"
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and o.deleted_at is null ${afterCursor(page, sql`o.id`)}
    order by o.id desc limit ${page.limit + 1}
  `;
}

/** Plans that an organization can have paid for; null in its row means none. */
export type PaidPlan = 'starter' | 'pro' | 'scale';

/**
 * Returns the plan that a row of `organizations` has paid for, as an SQL expression. It ends by itself at the end of
 * the paid time, so that neither a tick nor the processor has to end it.
 */
export function paidPlanOf(organization: Sql): Sql {
  return sql`(case when ${organization}.paid_until > now() then ${organization}.paid_plan end)`;
}
