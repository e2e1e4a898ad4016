import type { Actor } from '#core/foundation/audit/index.ts';
import { endSignInsOf } from '#core/integrations/connections/index.ts';
import { forgetDigests } from '#core/upkeep/digests/index.ts';
import { endGrantsOfMember } from '#core/accounts/programs/index.ts';
import type { AccountsCore } from '#core/models/connections/index.ts';
import { endSessionsOf } from '#core/accounts/identity/index.ts';
import { endMembership, leaveOrganization, organizationsOf, revokeKeysOf } from '#core/accounts/organizations/index.ts';
import { forgetReader } from '#core/execution/results/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import { revokeAccountsOfMember } from './accounts.ts';

interface Membership {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Removes a person, or lets them leave. Ends their sign-ins and, unless an owner keeps them, the API keys that they
 * made.
 * @returns the result of `endMembership`, and the connections that need another sign-in
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required`, `last_owner`
 */
export function removeMember(
  deps: AccountsCore,
  by: Actor & { readonly id: string },
  member: Membership,
  options: { readonly keepKeys: boolean },
) {
  return transaction(deps.database, async (tx) => {
    const removed = await endMembership(tx, by, member, options);
    return { ...removed, connections: await endRights(deps, tx, by, member) };
  });
}

/**
 * Takes a person out of all their organizations, before their account is deleted. If the person is the last owner of
 * one organization, nothing changes.
 * @throws {AppError} `last_owner`
 */
export async function leaveOrganizations(deps: AccountsCore, userId: string): Promise<void> {
  const by = { kind: 'person', id: userId, address: null } as const;
  await transaction(deps.database, async (tx) => {
    for (const organizationId of await organizationsOf(tx, userId)) {
      const member = { organizationId, userId };
      await leaveOrganization(tx, by, member);
      await endRights(deps, tx, by, member);
    }
  });
}

async function endRights(deps: AccountsCore, tx: Db, by: Actor, member: Membership) {
  await forgetReader(tx, member);
  await forgetDigests(tx, member);
  await endGrantsOfMember(tx, member, { by, because: 'their person left the organization' });
  await revokeAccountsOfMember(deps, tx, { ...member, by });
  return endSignInsOf(tx, by, member);
}

async function endPrograms(tx: Db, by: Actor, member: Membership, because: string) {
  const revokedKeys = await revokeKeysOf(tx, by, member);
  return { revokedKeys, disconnectedAssistants: await endGrantsOfMember(tx, member, { by, because }) };
}

/**
 * Ends the sessions of a member in an organization and, on request, the rights of programs that act in their name: a
 * stolen session may have granted such rights.
 * @throws {AppError} as `endSessionsOf`
 */
export function endSessionsOfMember(
  { database }: { readonly database: Database },
  by: Actor & { readonly id: string },
  member: Membership,
  { endsPrograms }: { readonly endsPrograms: boolean },
) {
  return transaction(database, async (tx) => {
    const ended = await endSessionsOf(tx, by, member);
    const programs = endsPrograms
      ? await endPrograms(tx, by, member, 'the sessions of their person were ended')
      : { revokedKeys: [], disconnectedAssistants: 0 };
    return { ended, ...programs };
  });
}

/** Ends a person's programs in all organizations, when the person asks for this while resetting the password. */
export async function endProgramsOf({ database }: { readonly database: Database }, userId: string): Promise<void> {
  const by = { kind: 'person', id: userId, address: null } as const;
  await transaction(database, async (tx) => {
    for (const organizationId of await organizationsOf(tx, userId)) {
      await endPrograms(tx, by, { organizationId, userId }, 'the password of their person was reset');
    }
  });
}
