import { AT_ONCE, execute, rows, sql, type Database, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { ProviderRevocation } from '../connection.ts';
import { revokeTokens, type RevocationDeps } from '../oauth/token-request.ts';
import type { ModelProviders } from '../providers/providers.ts';
import { sweepAttempts } from '../sign-in/attempt-queries.ts';
import { modelCredential, type ModelCredential } from '../store/credential.ts';

export interface OutboxDeps extends RevocationDeps {
  readonly database: Db;
  readonly secrets: SecretBox;
  readonly modelProviders: ModelProviders;
  readonly log: Log;
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
  await execute(
    tx,
    sql`
      insert into model_revocations (connection_id, sealed, next_attempt_at)
      values (${connectionId}, ${sealed}, ${AT_ONCE})
    `,
  );
}

/**
 * Hands revoked credentials that are due back to their issuers, and erases each once it was taken back, cannot be, or
 * has been tried for a day.
 * @param only one connection; by default everything that is due
 */
export async function settleRevocations(deps: OutboxDeps, only?: string): Promise<void> {
  for (;;) {
    const due = await claimDue(deps.database, only);
    for (const each of due) await settle(deps, each);
    if (due.length < BATCH) return;
  }
}

async function settle(deps: OutboxDeps, due: DueRevocation): Promise<void> {
  const { connectionId } = due;
  const outcome = due.givenUp ? 'failed' : await attempt(deps, due);
  if (outcome === 'pending') return;
  await execute(
    deps.database,
    sql`
      with erased as (delete from model_revocations where connection_id = ${connectionId} returning connection_id)
      update model_connections set provider_revocation = ${outcome} from erased
      where id = erased.connection_id
    `,
  );
  deps.log.info({ connectionId, outcome }, 'the credential of a revoked model account was erased');
}

async function attempt(deps: OutboxDeps, due: DueRevocation): Promise<ProviderRevocation> {
  const { connectionId } = due;
  const provider = deps.modelProviders.find(due.provider);
  // Its provider is off, or another one stands in its place: it may come back within the day.
  if (provider === undefined || provider.identity !== due.providerIdentity) return 'pending';
  try {
    const opened = modelCredential.parse(
      JSON.parse(deps.secrets.open(due.sealed, place(connectionId))),
    );
    return opened.kind === 'oauth' ? await revokeTokens(deps, provider, opened) : 'unsupported';
  } catch {
    deps.log.warn(
      { connectionId, attempts: due.attempts },
      'a model account was not revoked at its provider',
    );
    return 'pending';
  }
}

/**
 * Takes those that are due, the next attempt of each at growing distance: a minute, then twice that, at most an hour.
 */
function claimDue(db: Db, only: string | undefined): Promise<DueRevocation[]> {
  return rows<DueRevocation>(
    db,
    sql`
      update model_revocations r set attempts = r.attempts + 1,
        next_attempt_at = now() + least(interval '1 minute' * power(2, r.attempts), interval '1 hour')
      from model_connections c
      where c.id = r.connection_id and r.connection_id in (
        select connection_id from model_revocations
        where next_attempt_at <= now() ${only === undefined ? sql`` : sql`and connection_id = ${only}`}
        order by next_attempt_at limit ${BATCH} for update skip locked)
      returning r.connection_id as "connectionId", r.sealed, r.attempts, c.provider,
        c.provider_identity as "providerIdentity", r.give_up_at <= now() as "givenUp"
    `,
  );
}

function place(connectionId: string) {
  return { table: 'model_revocations', row: connectionId, column: 'sealed' };
}

export interface ModelHousekeepingDeps extends OutboxDeps {
  readonly database: Database;
}

/** Ends sign-ins that have run out, and hands revoked credentials back. */
export async function sweepModelConnections(deps: ModelHousekeepingDeps): Promise<void> {
  await sweepAttempts(deps.database);
  await settleRevocations(deps);
}
