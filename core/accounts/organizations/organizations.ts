import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, lockKey, transaction, type Database, type Db } from '#lib/database/index.ts';
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
 * Creates an organization with its founder and its default project. If the id exists, an earlier attempt of the same
 * request has created the organization: returns that organization.
 */
async function createOrganization(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; projectId: string; name: string },
): Promise<{ organization: Organization; project: Project }> {
  const { id: organizationId, projectId } = input;
  const organization = await tx.rowOr<{ createdAt: Date; isNew: boolean }>('internal_error')`
    insert into organizations as o (id, name, founded_by) values (${organizationId}, ${input.name}, ${by.id})
    on conflict (id) do update set name = o.name
    returning created_at as "createdAt", xmax = 0 as "isNew"
  `;
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
 * Creates an organization for a person within their limit. Deleted organizations count for a month, so that a new
 * organization cannot evade spending limits.
 * @throws {AppError} `limit_reached`
 */
export async function foundOrganization(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; projectId: string; name: string },
  { maxOrganizations }: { maxOrganizations: number },
): Promise<{ organization: Organization; project: Project }> {
  await lockKey(tx, by.id);
  if ((await countFounded(tx, by.id, input.id)) >= maxOrganizations) {
    throw new AppError(
      'limit_reached',
      `You have created ${maxOrganizations} organizations, the most that a person may create.`,
    );
  }
  return createOrganization(tx, by, input);
}

function countFounded(tx: Db, userId: string, except: string | null): Promise<number> {
  return tx.value<number>`
    select count(*) as founded from organizations
    where founded_by = ${userId} and id is distinct from ${except}
      and (deleted_at is null or deleted_at > now() - interval '30 days')
  `;
}

/**
 * Creates an organization for a person who has none. Each sign-in calls this function, so that a crash after the
 * sign-up is repaired. A lock keeps two sign-ins from making two organizations. A person at their limit stays without
 * an organization until they are invited.
 * @param options.address e-mail address of the person
 */
export async function ensureOrganization(
  database: Database,
  user: { id: string; name: string },
  { address, maxOrganizations }: { address: string | null; maxOrganizations: number },
): Promise<void> {
  await transaction(database, async (tx) => {
    await lockKey(tx, user.id);
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

/** Plans that an organization can have paid for; null in the organization's row means none. */
export type PaidPlan = 'starter' | 'pro' | 'scale';
