import { APIError } from 'better-auth/api';
import { recordAudit, type Actor } from '#core/audit/index.ts';
import {
  execute,
  row,
  rows,
  sql,
  transaction,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { revokeKeysOf, type RevokedKey } from './api-keys.ts';
import {
  assertAdmin,
  assertAnotherOwner,
  lockOrganization,
  roleOf,
  type Member,
  type Role,
} from './roles.ts';

/** The most people an organization can have, so that its list needs no pages. */
export const MAX_MEMBERS = 200;

export interface ListedMember {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: Date;
}

/**
 * Called in the transaction that ends a person's membership of an organization, so that other subjects can end what
 * depends on it, such as personal model connections.
 */
export type MembershipEnded = (
  tx: Db,
  ended: Member,
  by: Actor,
) => Promise<Pick<Departure, 'connections'>>;

/** The rights of a person that ended with their membership. */
interface Departure {
  readonly revokedKeys: readonly RevokedKey[];
  /** Connections that they had signed in to, which need another sign-in. */
  readonly connections: readonly {
    readonly id: string;
    readonly name: string;
    readonly projectId: string;
  }[];
}

const columns = sql`u.id as "userId", u.name, u.email, m.role, m.created_at as "joinedAt"`;

/** Lists the people of an organization, in the order in which they joined. @throws {AppError} `organization_not_found` */
export async function listMembers(
  db: Db,
  by: { userId: string },
  organizationId: string,
): Promise<ListedMember[]> {
  await roleOf(db, { organizationId, userId: by.userId });
  return rows<ListedMember>(
    db,
    sql`
      select ${columns} from memberships m join users u on u.id = m.user_id
      where m.organization_id = ${organizationId}
      order by m.created_at, u.id limit ${MAX_MEMBERS}
    `,
  );
}

/**
 * Gives a person another role. Only an owner makes or unmakes an owner, which is how ownership is handed over. API keys
 * of theirs that the new role could not make are revoked.
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required`, `last_owner`
 */
export async function changeRole(
  tx: Db,
  by: Actor & { readonly id: string },
  member: Member,
  role: Role,
): Promise<ListedMember & Pick<Departure, 'revokedKeys'>> {
  const { organizationId, userId } = member;
  await lockOrganization(tx, organizationId);
  const own = await assertAdmin(tx, { organizationId, userId: by.id });
  const before = await readMember(tx, member);
  if (before.role === role) return { ...before, revokedKeys: [] };
  if ((before.role === 'owner' || role === 'owner') && own !== 'owner') {
    throw new AppError('owner_required');
  }
  if (before.role === 'owner') await assertAnotherOwner(tx, member);
  await execute(
    tx,
    sql`update memberships set role = ${role} where organization_id = ${organizationId} and user_id = ${userId}`,
  );
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
 * Takes a person out of an organization, or lets them leave. The API keys that they made there are revoked, unless an
 * owner keeps them, and what they had signed in to stops.
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required`, `last_owner`
 */
export async function removeMember(
  tx: Db,
  by: Actor & { readonly id: string },
  member: Member,
  { keepKeys, membershipEnded }: { keepKeys: boolean; membershipEnded: MembershipEnded },
): Promise<ListedMember & Departure> {
  const { organizationId, userId } = member;
  await lockOrganization(tx, organizationId);
  const own = await roleOf(tx, { organizationId, userId: by.id });
  const leaving = by.id === userId;
  if (!leaving && own === 'member')
    throw new AppError('forbidden', 'This needs the role owner or admin.');
  const removed = await readMember(tx, member);
  if (!leaving && removed.role === 'owner' && own !== 'owner') throw new AppError('owner_required');
  if (keepKeys && own !== 'owner') {
    throw new AppError(
      'owner_required',
      'Only an owner may keep the API keys of a person who leaves.',
    );
  }
  if (removed.role === 'owner') await assertAnotherOwner(tx, member);
  return { ...removed, ...(await endMembership(tx, by, member, { keepKeys, membershipEnded })) };
}

/** Ends a membership. The caller holds the organization and has checked that it may end. */
async function endMembership(
  tx: Db,
  by: Actor,
  member: Member,
  { keepKeys, membershipEnded }: { keepKeys: boolean; membershipEnded: MembershipEnded },
): Promise<Departure> {
  const { organizationId, userId } = member;
  await execute(
    tx,
    sql`delete from memberships where organization_id = ${organizationId} and user_id = ${userId}`,
  );
  await recordAudit(tx, {
    organizationId,
    by,
    action: by.id === userId ? 'member.left' : 'member.removed',
    targetId: userId,
    details: { keysKept: keepKeys },
  });
  const revokedKeys = keepKeys ? [] : await revokeKeysOf(tx, by, member);
  return { revokedKeys, ...(await membershipEnded(tx, member, by)) };
}

/** Reads a member. @throws {AppError} `member_not_found` */
export async function readMember(
  tx: Db,
  { organizationId, userId }: Member,
): Promise<ListedMember> {
  const found = await row<ListedMember>(
    tx,
    sql`
      select ${columns} from memberships m join users u on u.id = m.user_id
      where m.organization_id = ${organizationId} and m.user_id = ${userId}
    `,
  );
  if (found === undefined) throw new AppError('member_not_found');
  return found;
}

/**
 * Takes a person out of all their organizations, before their account is deleted. In one transaction: the last
 * owner of an organization keeps the account and everything else.
 * @throws {APIError} `last_owner`, in the form of the authentication library, which asks for this
 */
export async function leaveOrganizations(
  { database, membershipEnded }: { database: Database; membershipEnded: MembershipEnded },
  userId: string,
): Promise<void> {
  const by = { kind: 'person', id: userId, address: null } as const;
  try {
    await transaction(database, async (tx) => {
      const memberships = await rows<{ organizationId: string; deleted: boolean }>(
        tx,
        sql`
          select m.organization_id as "organizationId", o.deleted_at is not null as deleted
          from memberships m join organizations o on o.id = m.organization_id
          where m.user_id = ${userId} order by m.organization_id
        `,
      );
      for (const { organizationId, deleted } of memberships) {
        if (deleted) continue;
        const member = { organizationId, userId };
        await lockOrganization(tx, organizationId);
        await assertAnotherOwner(tx, member);
        await endMembership(tx, by, member, { keepKeys: false, membershipEnded });
      }
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new APIError('CONFLICT', {
      code: error.code,
      message: 'You are the last owner of an organization: hand it over or delete it first.',
    });
  }
}
