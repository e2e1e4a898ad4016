import type { Actor } from '#core/foundation/audit/index.ts';
import { endSessionsOf } from '#core/accounts/identity/index.ts';
import { organizationsOf, revokeKeysOf, type RevokedKey } from '#core/accounts/organizations/index.ts';
import { endGrantsOfMember } from '#core/accounts/programs/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';

interface Membership {
  readonly organizationId: string;
  readonly userId: string;
}

/** What programs had of a person: API keys, those of terminals too, and assistants. */
interface EndedPrograms {
  readonly revokedKeys: readonly RevokedKey[];
  readonly disconnectedAssistants: number;
}

async function endPrograms(tx: Db, by: Actor, member: Membership, because: string): Promise<EndedPrograms> {
  const revokedKeys = await revokeKeysOf(tx, by, member);
  return { revokedKeys, disconnectedAssistants: await endGrantsOfMember(tx, member, { by, because }) };
}

/**
 * Ends the sessions of a member in an organization, and on request what programs may do there in their name: who had a
 * session may have given access that outlives it.
 * @throws {AppError} of `endSessionsOf`
 */
export function endSessionsOfMember(
  { database }: { readonly database: Database },
  by: Actor & { readonly id: string },
  member: Membership,
  { endsPrograms }: { readonly endsPrograms: boolean },
): Promise<EndedPrograms & { readonly ended: number }> {
  return transaction(database, async (tx) => {
    const ended = await endSessionsOf(tx, by, member);
    const programs = endsPrograms
      ? await endPrograms(tx, by, member, 'the sessions of their person were ended')
      : { revokedKeys: [], disconnectedAssistants: 0 };
    return { ended, ...programs };
  });
}

/** Ends what programs may do in a person's name in all organizations, on their request with a new password. */
export async function endProgramsOf({ database }: { readonly database: Database }, userId: string): Promise<void> {
  const by = { kind: 'person', id: userId, address: null } as const;
  await transaction(database, async (tx) => {
    for (const organizationId of await organizationsOf(tx, userId)) {
      await endPrograms(tx, by, { organizationId, userId }, 'the password of their person was reset');
    }
  });
}
