import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import {
  afterCommit,
  execute,
  row,
  rows,
  sql,
  transaction,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { cancelAtRuntime, endOpenCalls } from '../calls/outcome.ts';
import type { ModelConnection, RevokedReason } from '../connection.ts';
import type { ModelRuntime } from '../runtime/runtime.ts';
import { endAttemptsOfProject } from '../sign-in/attempt-queries.ts';
import { openCredential } from '../store/credential.ts';
import { readModelConnection } from '../store/queries.ts';
import { putIntoOutbox, settleRevocations, type OutboxDeps } from './outbox.ts';

export interface RevokeDeps extends OutboxDeps {
  /** Undefined where none is configured, and then no call is under way. */
  readonly modelRuntime: ModelRuntime | undefined;
  readonly accountRoutines: AccountRoutines;
}

/** Texts that a routine shows which was paused with its account. */
const SHOWN_REASON: Readonly<Record<RevokedReason, string>> = {
  owner: 'its model account was revoked by its owner',
  member_removed: 'the owner of its model account has left the organization',
  project_deleted: 'its project was deleted',
};

/**
 * Revokes an account on behalf of its owner: it is of no use from the commit on, routines on it pause, and its
 * credential is on its way back to the provider and then erased. The record stays. Revoking again changes nothing.
 * @throws {AppError} `connection_not_found`, `owner_required`
 */
export async function revokeModelConnection(
  deps: RevokeDeps & { readonly database: Database },
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
  await transaction(deps.database, (tx) =>
    revokeIn(deps, tx, { projectId, connectionId, by, reason: 'owner' }),
  );
  return readModelConnection(deps.database, projectId, connectionId);
}

/**
 * Revokes every account of a person in the projects of an organization that they leave, in the transaction that removes
 * them. The provider is told once that has committed.
 * @returns the ids of the accounts
 */
export async function revokeAccountsOfMember(
  deps: RevokeDeps,
  tx: Db,
  input: { readonly organizationId: string; readonly userId: string; readonly by: Actor },
): Promise<string[]> {
  const accounts = await rows<{ id: string; projectId: string }>(
    tx,
    sql`
      select c.id, c.project_id as "projectId" from model_connections c join projects p on p.id = c.project_id
      where p.organization_id = ${input.organizationId} and c.owner_id = ${input.userId} and c.state <> 'revoked'
      order by c.id
    `,
  );
  return revokeEach(deps, tx, accounts, { by: input.by, reason: 'member_removed' });
}

/**
 * Revokes every account of a project, in the transaction that deletes it, and ends the sign-ins that are under way
 * there.
 * @returns the ids of the accounts
 */
export async function revokeAccountsOfProject(
  deps: RevokeDeps,
  tx: Db,
  input: { readonly projectId: string; readonly by: Actor },
): Promise<string[]> {
  await endAttemptsOfProject(tx, input.projectId);
  const accounts = await rows<{ id: string; projectId: string }>(
    tx,
    sql`
      select id, project_id as "projectId" from model_connections
      where project_id = ${input.projectId} and state <> 'revoked' order by id
    `,
  );
  return revokeEach(deps, tx, accounts, { by: input.by, reason: 'project_deleted' });
}

async function revokeEach(
  deps: RevokeDeps,
  tx: Db,
  accounts: readonly { readonly id: string; readonly projectId: string }[],
  why: { readonly by: Actor; readonly reason: RevokedReason },
): Promise<string[]> {
  for (const { id, projectId } of accounts) {
    await revokeIn(deps, tx, { projectId, connectionId: id, ...why });
  }
  return accounts.map(({ id }) => id);
}

interface Revocation {
  readonly projectId: string;
  readonly connectionId: string;
  readonly by: Actor;
  readonly reason: RevokedReason;
}

async function revokeIn(deps: RevokeDeps, tx: Db, revocation: Revocation): Promise<void> {
  const { projectId, connectionId, by, reason } = revocation;
  // Routines before the account: the order in which a change of a routine locks them.
  const paused = await deps.accountRoutines.pauseOn(tx, {
    projectId,
    connectionIds: [connectionId],
    reason: SHOWN_REASON[reason],
  });
  const held = await row<{ sealed: string; provider: string }>(
    tx,
    sql`
      select credential as sealed, provider from model_connections
      where id = ${connectionId} and project_id = ${projectId} and state <> 'revoked' for update
    `,
  );
  if (held === undefined) return;
  const credential = openOrUndefined(deps, connectionId, held.sealed);
  const toTell = credential?.kind === 'oauth' ? credential : undefined;
  if (toTell !== undefined) await putIntoOutbox(tx, deps.secrets, connectionId, toTell);
  await execute(
    tx,
    sql`
      update model_connections set state = 'revoked', public_error = null, credential = null,
        credential_expires_at = null, renewal_lease = null, renewal_leased_until = null, revoked_at = now(),
        revoked_by = ${by.id}, revoked_reason = ${reason}, paused_routine_count = ${paused.length},
        provider_revocation = ${toTell === undefined ? 'unsupported' : 'pending'}, updated_at = now()
      where id = ${connectionId} and project_id = ${projectId}
    `,
  );
  await recordProjectAudit(tx, {
    by,
    projectId,
    action: 'model_connection.revoked',
    targetId: connectionId,
    details: { provider: held.provider, reason },
  });
  const calls = await endOpenCalls(tx, { id: connectionId, projectId }, 'revoked');
  afterCommit(tx, () => void cancelAtRuntime(deps.modelRuntime, calls, deps.log));
  await execute(tx, sql`delete from model_connection_models where connection_id = ${connectionId}`);
  if (toTell !== undefined) afterCommit(tx, () => void settleSoon(deps, connectionId));
}

/** Settles a revocation while no caller waits for the provider; housekeeping repeats what fails here. */
async function settleSoon(deps: RevokeDeps, connectionId: string): Promise<void> {
  try {
    await settleRevocations(deps, connectionId);
  } catch (err) {
    deps.log.warn({ err, connectionId }, 'a revocation is left to housekeeping');
  }
}

/** Opens a credential. One that no key opens any more cannot be revoked at its provider; it is erased all the same. */
function openOrUndefined({ secrets, log }: RevokeDeps, connectionId: string, sealed: string) {
  try {
    return openCredential(secrets, connectionId, sealed);
  } catch {
    log.warn({ connectionId }, 'the credential of a revoked model account could not be read');
    return undefined;
  }
}

/** Pauses routines whose model account is gone. The subject that owns routines implements it. */
export interface AccountRoutines {
  /**
   * Pauses the active routines on these accounts, and skips their scheduled runs that have not begun. `reason` is shown
   * on each routine. The caller holds no row of an account yet.
   * @returns the ids of those that were paused
   */
  pauseOn(
    tx: Db,
    input: {
      readonly projectId: string;
      readonly connectionIds: readonly string[];
      readonly reason: string;
    },
  ): Promise<string[]>;
}
