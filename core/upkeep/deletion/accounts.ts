import type { Actor } from '#core/foundation/audit/index.ts';
import {
  accountsOfMember,
  accountsOfProject,
  endAttemptsOfProject,
  readModelConnection,
  revokeAccount,
  type AccountsCore,
  type ModelConnection,
  type ModelConnectionRef,
  type RevokedReason,
} from '#core/models/connections/index.ts';
import { pauseRoutinesOn } from '#core/authoring/routines/index.ts';
import { cancelAtRuntime, endOpenCalls } from '#core/models/calls/index.ts';
import { afterCommit, transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/** The reason shown on a routine that was paused with its account. */
const SHOWN_REASON: Readonly<Record<RevokedReason, string>> = {
  owner: 'its model account was revoked by its owner',
  member_removed: 'the owner of its model account has left the organization',
  project_deleted: 'its project was deleted',
};

/**
 * Revokes an account on behalf of its owner. From the commit on, no run can use the account, and its routines are
 * paused. The credential is then revoked at the provider and erased. The record stays. Revoking again changes nothing.
 * @throws {AppError} `connection_not_found`, `owner_required`
 */
export async function revokeModelConnection(
  deps: AccountsCore,
  input: {
    readonly projectId: string;
    readonly connectionId: string;
    readonly by: Actor & { readonly id: string };
  },
): Promise<ModelConnection> {
  const { projectId, connectionId, by } = input;
  const found = await readModelConnection(deps.database, projectId, connectionId);
  if (found.ownerId !== by.id) throw new AppError('owner_required');
  if (found.state === 'revoked') return found;
  await transaction(deps.database, (tx) => revokeEach(deps, tx, [found], { by, reason: 'owner' }));
  return readModelConnection(deps.database, projectId, connectionId);
}

/** Revokes a person's accounts in an organization, in the transaction of the removal. The provider is asked later. */
export async function revokeAccountsOfMember(
  deps: AccountsCore,
  tx: Db,
  input: { readonly organizationId: string; readonly userId: string; readonly by: Actor },
): Promise<string[]> {
  const { by } = input;
  const accounts = await accountsOfMember(tx, input);
  return revokeEach(deps, tx, accounts, { by, reason: 'member_removed' });
}

/** Revokes every account of a project and ends its open sign-ins, in the transaction that deletes the project. */
export async function revokeAccountsOfProject(
  deps: AccountsCore,
  tx: Db,
  { projectId, by }: { readonly projectId: string; readonly by: Actor },
): Promise<string[]> {
  await endAttemptsOfProject(tx, projectId);
  const accounts = await accountsOfProject(tx, projectId);
  return revokeEach(deps, tx, accounts, { by, reason: 'project_deleted' });
}

async function revokeEach(
  deps: AccountsCore,
  tx: Db,
  accounts: readonly ModelConnectionRef[],
  { by, reason }: { readonly by: Actor; readonly reason: RevokedReason },
): Promise<string[]> {
  for (const { id: connectionId, projectId } of accounts) {
    // Lock routines before the account, in the order in which a change of a routine locks them.
    const pause = { projectId, connectionIds: [connectionId], reason: SHOWN_REASON[reason] };
    const { length: pausedRoutines } = await pauseRoutinesOn(deps, tx, pause);
    await revokeAccount(deps, tx, { projectId, connectionId, by, reason, pausedRoutines });
    const calls = await endOpenCalls(tx, { id: connectionId, projectId }, 'revoked');
    afterCommit(tx, () => void cancelAtRuntime(deps.modelRuntime, calls, deps.log));
  }
  return accounts.map(({ id }) => id);
}
