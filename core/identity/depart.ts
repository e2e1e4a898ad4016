import { APIError } from 'better-auth/api';
import { rows, sql, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { endMembership, type MembershipEnded } from './members.ts';
import { assertAnotherOwner, lockOrganization } from './roles.ts';

/**
 * Takes a person out of all their organizations, before their account is deleted. Together: somebody who is the last
 * owner of one keeps the account and everything else.
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
