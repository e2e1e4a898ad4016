import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { afterCommit, sql, type Db, AT_ONCE } from '#lib/database/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { ModelConnectionRef, RevokedReason, ProviderRevocation } from './connection.ts';
import type { AccountsCore } from './core.ts';
import { revokeTokens } from './oauth/server.ts';
import { sweepAttempts } from './sign-in/attempt-queries.ts';
import { openCredential, modelCredential, type ModelCredential } from './store/credential.ts';

interface Revocation {
  readonly projectId: string;
  readonly connectionId: string;
  readonly by: Actor;
  readonly reason: RevokedReason;
  /** Ids of the routines that were paused because of it, for the audit record. */
  readonly pausedRoutines: number;
}

/**
 * Revokes an account in the caller's transaction: it is of no use from the commit on, and its credential is on its way
 * back to the provider and then erased. The record stays. Revoking again changes nothing.
 */
export async function revokeAccount(
  deps: AccountsCore,
  tx: Db,
  { projectId, connectionId, by, reason, pausedRoutines }: Revocation,
): Promise<void> {
  const held = await tx.row<{ sealed: string; provider: string }>`
    select credential as sealed, provider from model_connections
    where id = ${connectionId} and project_id = ${projectId} and state <> 'revoked' for update
  `;
  if (held === undefined) return;
  const credential = openOrUndefined(deps, connectionId, held.sealed);
  const toTell = credential?.kind === 'oauth' ? credential : undefined;
  if (toTell !== undefined) await putIntoOutbox(tx, deps.secrets, connectionId, toTell);
  await tx.run`
    update model_connections set state = 'revoked', public_error = null, credential = null,
      credential_expires_at = null, renewal_lease = null, renewal_leased_until = null, revoked_at = now(),
      revoked_by = ${by.id}, revoked_reason = ${reason}, paused_routine_count = ${pausedRoutines},
      provider_revocation = ${toTell === undefined ? 'unsupported' : 'pending'}, updated_at = now()
    where id = ${connectionId} and project_id = ${projectId}
  `;
  await recordProjectAudit(tx, {
    by,
    projectId,
    action: 'model_connection.revoked',
    targetId: connectionId,
    details: { provider: held.provider, reason },
  });
  await tx.run`delete from model_connection_models where connection_id = ${connectionId}`;
  if (toTell !== undefined) afterCommit(tx, () => void settleSoon(deps, connectionId));
}

/** Lists the accounts of a person in the projects of an organization that are not revoked yet. */
export function accountsOfMember(
  tx: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<ModelConnectionRef[]> {
  return tx.rows<ModelConnectionRef>`
    select c.id, c.project_id as "projectId" from model_connections c join projects p on p.id = c.project_id
    where p.organization_id = ${organizationId} and c.owner_id = ${userId} and c.state <> 'revoked'
    order by c.id
  `;
}

/** Lists the accounts of a project that are not revoked yet. */
export function accountsOfProject(tx: Db, projectId: string): Promise<ModelConnectionRef[]> {
  return tx.rows<ModelConnectionRef>`
    select id, project_id as "projectId" from model_connections
    where project_id = ${projectId} and state <> 'revoked' order by id
  `;
}

/** Settles a revocation while no caller waits for the provider; housekeeping repeats what fails here. */
async function settleSoon(deps: AccountsCore, connectionId: string): Promise<void> {
  try {
    await settleRevocations(deps, connectionId);
  } catch (err) {
    deps.log.warn({ err, connectionId }, 'a revocation is left to housekeeping');
  }
}

/** Opens a credential. One that no key opens any more cannot be revoked at its provider; it is erased all the same. */
function openOrUndefined({ secrets, log }: AccountsCore, connectionId: string, sealed: string) {
  try {
    return openCredential(secrets, connectionId, sealed);
  } catch {
    log.warn({ connectionId }, 'the credential of a revoked model account could not be read');
    return undefined;
  }
}

interface DueRevocation {
  readonly connectionId: string;
  readonly sealed: string;
  readonly attempts: number;
  readonly provider: string;
  readonly providerIdentity: string;
  readonly givenUp: boolean;
}

const BATCH = 20;

/** Keeps a credential until its provider has taken it back, sealed to its new place. */
export async function putIntoOutbox(
  tx: Db,
  secrets: SecretBox,
  connectionId: string,
  credential: ModelCredential,
): Promise<void> {
  const sealed = secrets.seal(JSON.stringify(credential), place(connectionId));
  await tx.run`
    insert into model_revocations (connection_id, sealed, next_attempt_at)
    values (${connectionId}, ${sealed}, ${AT_ONCE})
  `;
}

/**
 * Hands revoked credentials that are due back to their issuers, and erases each once it was taken back, cannot be, or
 * has been tried for a day.
 * @param only one connection; by default everything that is due
 */
async function settleRevocations(deps: AccountsCore, only?: string): Promise<void> {
  for (;;) {
    const due = await claimDue(deps.database, only);
    for (const each of due) await settle(deps, each);
    if (due.length < BATCH) return;
  }
}

async function settle(deps: AccountsCore, due: DueRevocation): Promise<void> {
  const { connectionId } = due;
  const outcome = due.givenUp ? 'failed' : await attempt(deps, due);
  if (outcome === 'pending') return;
  await deps.database.run`
    with erased as (delete from model_revocations where connection_id = ${connectionId} returning connection_id)
    update model_connections set provider_revocation = ${outcome} from erased
    where id = erased.connection_id
  `;
  deps.log.info({ connectionId, outcome }, 'the credential of a revoked model account was erased');
}

async function attempt(deps: AccountsCore, due: DueRevocation): Promise<ProviderRevocation> {
  const { connectionId } = due;
  const provider = deps.modelProviders.find(due.provider);
  // Its provider is off, or another one stands in its place: it may come back within the day.
  if (provider === undefined || provider.identity !== due.providerIdentity) return 'pending';
  try {
    const opened = modelCredential.parse(JSON.parse(deps.secrets.open(due.sealed, place(connectionId))));
    return opened.kind === 'oauth' ? await revokeTokens(deps, provider, opened) : 'unsupported';
  } catch {
    deps.log.warn({ connectionId, attempts: due.attempts }, 'a model account was not revoked at its provider');
    return 'pending';
  }
}

/**
 * Takes those that are due, the next attempt of each at growing distance: a minute, then twice that, at most an hour.
 */
function claimDue(db: Db, only: string | undefined): Promise<DueRevocation[]> {
  return db.rows<DueRevocation>`
    update model_revocations r set attempts = r.attempts + 1,
      next_attempt_at = now() + least(interval '1 minute' * power(2, r.attempts), interval '1 hour')
    from model_connections c
    where c.id = r.connection_id and r.connection_id in (
      select connection_id from model_revocations
      where next_attempt_at <= now() ${only === undefined ? sql`` : sql`and connection_id = ${only}`}
      order by next_attempt_at limit ${BATCH} for update skip locked)
    returning r.connection_id as "connectionId", r.sealed, r.attempts, c.provider,
      c.provider_identity as "providerIdentity", r.give_up_at <= now() as "givenUp"
  `;
}

function place(connectionId: string) {
  return { table: 'model_revocations', row: connectionId, column: 'sealed' };
}

/** Ends sign-ins that have run out, and hands revoked credentials back. */
export async function sweepModelConnections(deps: AccountsCore): Promise<void> {
  await sweepAttempts(deps.database);
  await settleRevocations(deps);
}
