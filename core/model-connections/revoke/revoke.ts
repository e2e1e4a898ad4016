import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import { afterCommit, execute, row, rows, sql, type Db } from '#lib/database/index.ts';
import { cancelAtRuntime, endOpenCalls } from '../calls/outcome.ts';
import type { ModelConnectionRef, RevokedReason } from '../connection.ts';
import type { ModelRuntime } from '../runtime/runtime.ts';
import { openCredential } from '../store/credential.ts';
import { putIntoOutbox, settleRevocations, type OutboxDeps } from './outbox.ts';

export interface RevokeDeps extends OutboxDeps {
  /** Undefined where none is configured, and then no call is under way. */
  readonly modelRuntime: ModelRuntime | undefined;
}

interface Revocation {
  readonly projectId: string;
  readonly connectionId: string;
  readonly by: Actor;
  readonly reason: RevokedReason;
  /** Routines that were paused because of it, which the record tells. */
  readonly pausedRoutines: number;
}

/**
 * Revokes an account in the caller's transaction: it is of no use from the commit on, and its credential is on its way
 * back to the provider and then erased. The record stays. Revoking again changes nothing.
 */
export async function revokeAccount(
  deps: RevokeDeps,
  tx: Db,
  { projectId, connectionId, by, reason, pausedRoutines }: Revocation,
): Promise<void> {
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
        revoked_by = ${by.id}, revoked_reason = ${reason}, paused_routine_count = ${pausedRoutines},
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

/** Lists the accounts of a person in the projects of an organization that are not revoked yet. */
export function accountsOfMember(
  tx: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<ModelConnectionRef[]> {
  return rows<ModelConnectionRef>(
    tx,
    sql`
      select c.id, c.project_id as "projectId" from model_connections c join projects p on p.id = c.project_id
      where p.organization_id = ${organizationId} and c.owner_id = ${userId} and c.state <> 'revoked'
      order by c.id
    `,
  );
}

/** Lists the accounts of a project that are not revoked yet. */
export function accountsOfProject(tx: Db, projectId: string): Promise<ModelConnectionRef[]> {
  return rows<ModelConnectionRef>(
    tx,
    sql`
      select id, project_id as "projectId" from model_connections
      where project_id = ${projectId} and state <> 'revoked' order by id
    `,
  );
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
