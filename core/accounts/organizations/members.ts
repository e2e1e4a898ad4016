import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { revokeKeysOf, type RevokedKey } from './api-keys.ts';
import { assertAdmin, assertAnotherOwner, lockOrganization, roleOf, type Member, type Role } from './roles.ts';

/** The most people an organization can have, so that its list needs no pages. */
export const MAX_MEMBERS = 200;

export interface ListedMember {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: Date;
}

/** A person, and their API keys that were revoked because they lost rights. */
interface DemotedMember extends ListedMember {
  readonly revokedKeys: readonly RevokedKey[];
}

const columns = sql`u.id as "userId", u.name, u.email, m.role, m.created_at as "joinedAt"`;

/**
 * Lists the people of an organization, in the order in which they joined. @throws {AppError} `organization_not_found`
 */
export async function listMembers(db: Db, by: { userId: string }, organizationId: string): Promise<ListedMember[]> {
  await roleOf(db, { organizationId, userId: by.userId });
  return db.rows<ListedMember>`
    select ${columns} from memberships m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId}
    order by m.created_at, u.id limit ${MAX_MEMBERS}
  `;
}

/**
 * Gives a person another role. Only an owner can make or unmake an owner; ownership is handed over in this way. API
 * keys that the new role could not make are revoked.
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required`, `last_owner`
 */
export async function changeRole(
  tx: Db,
  by: Actor & { readonly id: string },
  member: Member,
  role: Role,
): Promise<DemotedMember> {
  const { organizationId, userId } = member;
  await lockOrganization(tx, organizationId);
  const own = await assertAdmin(tx, { organizationId, userId: by.id });
  const before = await readMember(tx, member);
  if (before.role === role) return { ...before, revokedKeys: [] };
  if ((before.role === 'owner' || role === 'owner') && own !== 'owner') {
    throw new AppError('owner_required');
  }
  if (before.role === 'owner') await assertAnotherOwner(tx, member);
  await tx.run`update memberships set role = ${role} where organization_id = ${organizationId} and user_id = ${userId}`;
  await recordAudit(tx, {
    organizationId,
    by,
    action: 'member.role_changed',
    targetId: userId,
    details: { from: before.role, to: role },
  });
  return { ...before, role, revokedKeys: await revokeKeysOf(tx, by, member, role) };
}

/**
 * Removes a person from an organization, or lets them leave. Their API keys there are revoked, unless an owner keeps
 * them. The caller must end the person's sign-ins to connections.
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required`, `last_owner`
 */
export async function endMembership(
  tx: Db,
  by: Actor & { readonly id: string },
  member: Member,
  { keepKeys }: { keepKeys: boolean },
): Promise<DemotedMember> {
  const { organizationId, userId } = member;
  await lockOrganization(tx, organizationId);
  const own = await roleOf(tx, { organizationId, userId: by.id });
  const leaving = by.id === userId;
  if (!leaving && own === 'member') throw new AppError('forbidden', 'This operation needs the role owner or admin.');
  const removed = await readMember(tx, member);
  if (!leaving && removed.role === 'owner' && own !== 'owner') throw new AppError('owner_required');
  if (keepKeys && own !== 'owner') {
    throw new AppError('owner_required', 'Only an owner may keep the API keys of a person who leaves.');
  }
  if (removed.role === 'owner') await assertAnotherOwner(tx, member);
  return { ...removed, revokedKeys: await removeHeld(tx, by, member, keepKeys) };
}

/**
 * Takes a person who deletes their account out of an organization.
 * @throws {AppError} `organization_not_found`, `last_owner`
 */
export async function leaveOrganization(tx: Db, by: Actor, member: Member): Promise<void> {
  await lockOrganization(tx, member.organizationId);
  await assertAnotherOwner(tx, member);
  await removeHeld(tx, by, member, false);
}

/** Removes a person. The caller has locked the organization and checked that the membership may end. */
async function removeHeld(tx: Db, by: Actor, member: Member, keepKeys: boolean): Promise<RevokedKey[]> {
  const { organizationId, userId } = member;
  await tx.run`delete from memberships where organization_id = ${organizationId} and user_id = ${userId}`;
  await recordAudit(tx, {
    organizationId,
    by,
    action: by.id === userId ? 'member.left' : 'member.removed',
    targetId: userId,
    details: { keysKept: keepKeys },
  });
  return keepKeys ? [] : revokeKeysOf(tx, by, member);
}

function readMember(tx: Db, { organizationId, userId }: Member): Promise<ListedMember> {
  return tx.rowOr<ListedMember>('member_not_found')`
    select ${columns} from memberships m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and m.user_id = ${userId}
  `;
}

/**
 * Makes a member prove who they are before they act in an organization again. An owner or admin demands this. Locks
 * the organization.
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required` when an admin would
 * end an owner's sessions
 */
export async function demandProofOf(tx: Db, by: { readonly id: string }, member: Member): Promise<void> {
  const { organizationId, userId } = member;
  await lockOrganization(tx, organizationId);
  const own = await assertAdmin(tx, { organizationId, userId: by.id });
  const { role } = await readMember(tx, member);
  if (role === 'owner' && own !== 'owner') throw new AppError('owner_required');
  await tx.run`
    update memberships set sessions_ended_at = now()
    where organization_id = ${organizationId} and user_id = ${userId}
  `;
}

/** Lists the ids of a person's organizations, without the deleted ones. */
export async function organizationsOf(tx: Db, userId: string): Promise<string[]> {
  const found = await tx.rows<{ id: string }>`
    select o.id from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and o.deleted_at is null order by o.id
  `;
  return found.map(({ id }) => id);
}
