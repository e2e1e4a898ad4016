import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError, type ErrorCode } from '#lib/errors.ts';

export type Role = 'owner' | 'admin' | 'member';

/** A person in an organization. */
export interface Member {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Reads and locks the role of a person until the end of the transaction.
 * @throws {AppError} `organization_not_found` when they do not belong to it, `second_factor_required`
 */
export async function roleOf(db: Db, { organizationId, userId }: Member): Promise<Role> {
  const found = await db.row<{ role: Role; lacks: boolean }>`
    select m.role, ${lacksSecondFactor(sql`o`, userId)} as lacks from memberships m
    join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.organization_id = ${organizationId} and o.deleted_at is null
    for share of m
  `;
  return admitted(found, 'organization_not_found').role;
}

/**
 * Returns the row of a person's organization; `lacks` is true when the person lacks a demanded second factor.
 * @throws {AppError} `missing` without a row, `second_factor_required`
 */
export function admitted<R extends { readonly lacks: boolean }>(found: R | undefined, missing: ErrorCode): R {
  if (found === undefined) throw new AppError(missing);
  if (found.lacks) throw new AppError('second_factor_required');
  return found;
}

/** Checks that a person is owner or admin. @throws {AppError} `organization_not_found`, `forbidden` */
export async function assertAdmin(db: Db, member: Member): Promise<Role> {
  const role = await roleOf(db, member);
  if (role === 'member') throw new AppError('forbidden', 'This operation needs the role owner or admin.');
  return role;
}

/**
 * Locks an organization until the end of the transaction: changes of its members come one after another, and each sees
 * the present owners. Inserts of rows that refer to the organization do not wait: the lock does not cover the id.
 * @throws {AppError} `organization_not_found`
 */
export function lockOrganization(tx: Db, organizationId: string): Promise<{ name: string }> {
  return tx.rowOr<{ name: string }>('organization_not_found')`
    select name from organizations where id = ${organizationId} and deleted_at is null for no key update
  `;
}

/**
 * Checks that another person owns the organization too. The caller has locked the organization.
 * @throws {AppError} `last_owner`
 */
export async function assertAnotherOwner(tx: Db, { organizationId, userId }: Member): Promise<void> {
  const other = await tx.row`
    select 1 from memberships
    where organization_id = ${organizationId} and role = 'owner' and user_id <> ${userId} limit 1
  `;
  if (other === undefined) throw new AppError('last_owner');
}

/**
 * Returns an SQL condition: the organization demands a second factor that the person lacks.
 * @param organization alias of a row of `organizations`
 * @param userId id of the person, a value or a column
 */
export function lacksSecondFactor(organization: Sql, userId: string | Sql): Sql {
  return sql`(${organization}.requires_second_factor and not exists (
    select from second_factors f where f.user_id = ${userId} and f.confirmed_at is not null))`;
}
