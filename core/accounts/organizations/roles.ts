import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError, type ErrorCode } from '#lib/errors.ts';

export type Role = 'owner' | 'admin' | 'member';

/** A person in an organization. */
export interface Member {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Reads the role of a person, and holds it for the rest of a transaction. @throws {AppError} `organization_not_found`
 * when they do not belong to it, `second_factor_required`
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

/** What a query finds of a person's organization; `lacks` is true when it demands a second factor that they lack. */
interface Admission {
  readonly lacks: boolean;
}

/** Returns what was found. @throws {AppError} `missing` when nothing was, `second_factor_required` */
export function admitted<R extends Admission>(found: R | undefined, missing: ErrorCode): R {
  if (found === undefined) throw new AppError(missing);
  if (found.lacks) throw new AppError('second_factor_required');
  return found;
}

/** Checks that a person is owner or admin. @throws {AppError} `organization_not_found`, `forbidden` */
export async function assertAdmin(db: Db, member: Member): Promise<Role> {
  const role = await roleOf(db, member);
  if (role === 'member') throw new AppError('forbidden', 'This needs the role owner or admin.');
  return role;
}

/**
 * Holds an organization for the rest of the transaction, so that changes of its members come one after another and
 * each sees who owns it. Runs that begin or end meanwhile do not wait: this lock leaves the id to them.
 * @throws {AppError} `organization_not_found`
 */
export async function lockOrganization(tx: Db, organizationId: string): Promise<{ name: string }> {
  const found = await tx.row<{
    name: string;
  }>`select name from organizations where id = ${organizationId} and deleted_at is null for no key update`;
  if (found === undefined) throw new AppError('organization_not_found');
  return found;
}

/** Checks that another person owns the organization too. The caller holds it. @throws {AppError} `last_owner` */
export async function assertAnotherOwner(tx: Db, { organizationId, userId }: Member): Promise<void> {
  const other = await tx.row`
    select 1 from memberships
    where organization_id = ${organizationId} and role = 'owner' and user_id <> ${userId} limit 1
  `;
  if (other === undefined) throw new AppError('last_owner');
}

/**
 * Returns an SQL condition that is true when an organization demands a second factor that a person lacks.
 * @param organization alias of a row of `organizations`
 * @param userId id of the person, a value or a column
 */
export function lacksSecondFactor(organization: Sql, userId: string | Sql): Sql {
  return sql`(${organization}.requires_second_factor and not exists (
    select from second_factors f where f.user_id = ${userId} and f.confirmed_at is not null))`;
}
