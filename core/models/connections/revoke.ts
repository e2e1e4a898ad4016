import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { addWork, type WorkOutcome, type RequestKind } from '#core/foundation/work/index.ts';
import { afterCommit, sql, type Db, AT_ONCE } from '#lib/database/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { ModelConnectionRef, RevokedReason, ProviderRevocation } from './connection.ts';
import type { AccountsCore } from './core.ts';
import { revokeTokens } from './oauth/server.ts';
import { openCredential, modelCredential, type ModelCredential } from './store/credential.ts';

interface Revocation {
  readonly projectId: string;
  readonly connectionId: string;
  readonly by: Actor;
  readonly reason: RevokedReason;
  /** Number of routines that were paused with the account. */
  readonly pausedRoutines: number;
}

/**
 * Revokes an account in the caller's transaction: from the commit on it cannot be used, and its credential is handed
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
  if (toTell !== undefined) await keepForRevocation(tx, deps.secrets, connectionId, toTell);
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
  if (toTell !== undefined) afterCommit(tx, () => deps.work.nudge('revocation'));
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

/** Opens a credential; undefined if its key is missing. The credential then cannot be revoked, but is still erased. */
function openOrUndefined({ secrets, log }: AccountsCore, connectionId: string, sealed: string) {
  try {
    return openCredential(secrets, connectionId, sealed);
  } catch {
    log.warn({ connectionId }, 'the credential of a revoked model account could not be read');
    return undefined;
  }
}

/** Stores a credential, sealed for this place, until its provider has revoked it. */
export async function keepForRevocation(
  tx: Db,
  secrets: SecretBox,
  connectionId: string,
  credential: ModelCredential,
): Promise<void> {
  const sealed = secrets.seal(JSON.stringify(credential), place(connectionId));
  await tx.run`
    with kept as (
      insert into model_revocations (connection_id, sealed, next_attempt_at)
      values (${connectionId}, ${sealed}, ${NOT_THERE}) returning connection_id
    )
    ${addWork(sql`select 'revocation', connection_id, '', ${AT_ONCE}, '{}' from kept`)}
  `;
}

/**
 * Due time that hides a revocation from the previous release, which attempts every row of `model_revocations` that is
 * due.
 */
const NOT_THERE = sql`'infinity'::timestamptz`;

/** Moves revocations of the previous release, which may still run, into the queue of work. */
export async function adoptRevocations(db: Db): Promise<void> {
  await db.run`
    with left_behind as (
      update model_revocations set next_attempt_at = ${NOT_THERE}
      where connection_id = any(array(
        select connection_id from model_revocations where next_attempt_at <= now() for update skip locked
      ))
      returning connection_id
    )
    ${addWork(sql`select 'revocation', connection_id, '', ${AT_ONCE}, '{}' from left_behind`)}
  `;
}

const MINUTE_MS = 60_000;

/** Waits between attempts: a minute, then twice as long each time, at most an hour. */
const WAITS_MS = Array.from({ length: 30 }, (_, index) => MINUTE_MS * Math.min(2 ** index, 60));

/**
 * Hands revoked credentials back to their issuers. Erases each credential when it is revoked, when it cannot be
 * revoked, or after a day of attempts.
 */
export function revocationKind(deps: AccountsCore): RequestKind {
  return {
    batch: 20,
    waitsMs: WAITS_MS,
    attempt: ({ key }) => attempt(deps, key),
    async ended(tx, { key: connectionId }, outcome) {
      const result: ProviderRevocation =
        outcome.state === 'done' ? 'revoked' : outcome.state === 'cancelled' ? 'unsupported' : 'failed';
      await tx.run`
        with erased as (delete from model_revocations where connection_id = ${connectionId} returning connection_id)
        update model_connections set provider_revocation = ${result} from erased
        where id = erased.connection_id
      `;
    },
  };
}

const UNSUPPORTED: WorkOutcome = { state: 'cancelled', error: 'the issuer has no way to revoke tokens' };

async function attempt(deps: AccountsCore, connectionId: string): Promise<WorkOutcome> {
  const kept = await deps.database.row<{
    sealed: string;
    provider: string;
    providerIdentity: string;
    isGivenUp: boolean;
  }>`
    select r.sealed, c.provider, c.provider_identity as "providerIdentity", r.give_up_at <= now() as "isGivenUp"
    from model_revocations r join model_connections c on c.id = r.connection_id
    where r.connection_id = ${connectionId}
  `;
  if (kept === undefined) return UNSUPPORTED;
  if (kept.isGivenUp) return { state: 'failed', error: 'the revocation was tried for a day' };
  const provider = deps.modelProviders.find(kept.provider);
  if (provider === undefined || provider.identity !== kept.providerIdentity) {
    return { state: 'retry', error: 'the provider is switched off or was replaced' };
  }
  try {
    const opened = modelCredential.parse(JSON.parse(deps.secrets.open(kept.sealed, place(connectionId))));
    if (opened.kind !== 'oauth') return UNSUPPORTED;
    return (await revokeTokens(deps, provider, opened)) === 'revoked' ? { state: 'done' } : UNSUPPORTED;
  } catch {
    return { state: 'retry', error: 'the issuer could not be asked, or did not revoke the token' };
  }
}

function place(connectionId: string) {
  return { table: 'model_revocations', row: connectionId, column: 'sealed' };
}
