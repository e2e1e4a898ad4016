import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import { holdProject } from '#core/accounts/organizations/index.ts';
import { sql, lockKey, transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { assertWithinKeptQuota } from '#lib/quota.ts';
import { recordCatalogue } from '../catalogue.ts';
import type { ModelConnection } from '../connection.ts';
import type { AccountsCore } from '../core.ts';
import { sealCredential, type ModelCredential } from '../store/credential.ts';
import { readModelConnection } from '../store/queries.ts';
import { SignInFailure } from './failure.ts';
import type { TriedCredential } from './try-credential.ts';

/** An account whose credential was tried and that is about to be stored. */
export interface TriedAccount {
  /** Id for a new connection. */
  readonly id: string;
  /**
   * The connection to which the person signs in again; null renews the connection of the same account, or makes a new
   * connection.
   */
  readonly connectionId: string | null;
  readonly projectId: string;
  readonly ownerId: string;
  readonly provider: ModelProvider;
  readonly accountId: string | null;
  readonly accountLabel: string;
  readonly credential: ModelCredential;
  readonly expiresAt: Date | null;
  readonly tried: TriedCredential;
  readonly by: Actor;
}

/**
 * Stores an account with its models in one transaction; `alsoDo` runs in this transaction and may end the sign-in. An
 * account that may sign in but make no calls is stored as `plan_not_entitled`.
 * @throws {SignInFailure} `account_mismatch`; {AppError} `project_not_found`, `connection_not_found`, `owner_required`,
 * `connection_not_ready`
 */
export function keepAccount(
  deps: Pick<AccountsCore, 'database' | 'secrets'>,
  account: TriedAccount,
  alsoDo: (tx: Db, connectionId: string) => Promise<void> = () => Promise.resolve(),
): Promise<ModelConnection> {
  const { projectId } = account;
  return transaction(deps.database, async (tx) => {
    await holdProject(tx, projectId);
    await holdMembership(tx, account);
    // Take turns, so that two sign-ins of a person to the same new account make one row.
    await lockKey(tx, `model account ${account.projectId} ${account.ownerId} ${account.provider.slot}`);
    const id = await idFor(tx, account);
    const sealed = sealCredential(deps.secrets, id, account.credential);
    await upsert(tx, { ...account, id, sealed });
    if (account.tried.models !== undefined) await recordCatalogue(tx, { id, projectId }, account.tried.models);
    await recordProjectAudit(tx, {
      by: account.by,
      projectId,
      action: id === account.id ? 'model_connection.created' : 'model_connection.changed',
      targetId: id,
      details: { provider: account.provider.slot, name: account.accountLabel },
    });
    await alsoDo(tx, id);
    return readModelConnection(tx, projectId, id);
  });
}

/**
 * Checks that a person may connect an account: a new account while the project has room, or the account of one of their
 * connections.
 * @throws {AppError} `limit_reached`, and those of `readOwnConnection`
 */
export async function checkMayConnect(
  db: Db,
  owner: { readonly projectId: string; readonly userId: string },
  provider: Pick<ModelProvider, 'slot' | 'identity'>,
  connectionId: string | null,
): Promise<void> {
  if (connectionId !== null) return void (await readOwnConnection(db, owner, provider, connectionId));
  await assertWithinKeptQuota(db, {
    all: sql`select from model_connections where project_id = ${owner.projectId}`,
    ever: { max: MAX_EVER, what: 'model accounts, revoked ones included' },
    live: { where: sql`state <> 'revoked'`, max: MAX_ACCOUNTS, what: 'model accounts' },
  });
}

/** The most accounts of a project, without the revoked accounts (`MAX_ACCOUNTS`) and with them: their rows are kept. */
const MAX_ACCOUNTS = 1_000;
const MAX_EVER = 10_000;

/**
 * Finds the connection that a person may sign in to again.
 * @throws {AppError} `connection_not_found`, `owner_required`, `connection_not_ready` for a revoked account,
 * `invalid_request`
 */
async function readOwnConnection(
  db: Db,
  owner: { readonly projectId: string; readonly userId: string },
  provider: Pick<ModelProvider, 'slot' | 'identity'>,
  connectionId: string,
): Promise<ModelConnection> {
  const found = await readModelConnection(db, owner.projectId, connectionId);
  if (found.ownerId !== owner.userId) throw new AppError('owner_required');
  if (found.provider !== provider.slot) {
    throw new AppError('invalid_request', 'connectionId: the account is at another provider');
  }
  if (found.state === 'revoked') {
    throw new AppError('connection_not_ready', 'The connection is revoked; make a new one.');
  }
  // Another provider is configured under this name now, so the account cannot be the same.
  if (found.providerIdentity !== provider.identity) throw new SignInFailure('account_mismatch');
  return found;
}

/** Locks the membership, so that a person who is removed meanwhile leaves no account behind. */
async function holdMembership(tx: Db, { projectId, ownerId }: TriedAccount): Promise<void> {
  const held = await tx.row`
    select 1 from projects p join memberships m on m.organization_id = p.organization_id
    where p.id = ${projectId} and m.user_id = ${ownerId} for key share
  `;
  if (held === undefined) throw new AppError('project_not_found');
}

/** Returns the id of the row to write: the named row, the row of the same account, or a new row. */
async function idFor(tx: Db, account: TriedAccount): Promise<string> {
  const { projectId, ownerId, provider, accountId, connectionId } = account;
  const same = await tx.row<{ id: string }>`
    select id from model_connections
    where project_id = ${projectId} and owner_id = ${ownerId} and provider = ${provider.slot}
      and account_id = ${accountId} and state <> 'revoked' for update
  `;
  if (connectionId === null) return same?.id ?? account.id;
  const named = await tx.rowOr<{ ownerId: string; accountId: string | null; state: string; identity: string }>(
    'connection_not_found',
  )`
    select owner_id as "ownerId", account_id as "accountId", state, provider_identity as identity
    from model_connections
    where id = ${connectionId} and project_id = ${projectId} and provider = ${provider.slot} for update
  `;
  if (named.ownerId !== ownerId) throw new AppError('owner_required');
  if (named.state === 'revoked') throw new AppError('connection_not_ready');
  const isOther =
    named.identity !== provider.identity ||
    (same !== undefined && same.id !== connectionId) ||
    // A key names no account, so another key of the same person replaces the key of the connection.
    (provider.file.auth.kind !== 'api_key' && named.accountId !== null && named.accountId !== accountId);
  if (isOther) throw new SignInFailure('account_mismatch');
  return connectionId;
}

async function upsert(tx: Db, account: TriedAccount & { readonly sealed: string }): Promise<void> {
  const { provider, tried } = account;
  const isEntitled = tried.verdict === 'accepted';
  const state = isEntitled ? 'ready' : 'plan_not_entitled';
  await tx.row`
    insert into model_connections as c (id, project_id, owner_id, provider, provider_name, provider_identity,
      account_id, account_label, state, public_error, credential, credential_expires_at, credential_life_seconds,
      not_before, validated_at)
    values (${account.id}, ${account.projectId}, ${account.ownerId}, ${provider.slot}, ${provider.file.name},
      ${provider.identity}, ${account.accountId}, ${account.accountLabel}, ${state},
      ${isEntitled ? null : 'plan_not_entitled'}, ${account.sealed}, ${account.expiresAt},
      ceil(extract(epoch from ${account.expiresAt}::timestamptz - now())), ${tried.notBefore},
      now())
    on conflict (id) do update set provider_name = excluded.provider_name,
      account_id = coalesce(excluded.account_id, c.account_id), account_label = excluded.account_label,
      state = excluded.state, public_error = excluded.public_error, credential = excluded.credential,
      credential_version = c.credential_version + 1, credential_expires_at = excluded.credential_expires_at,
      credential_life_seconds = excluded.credential_life_seconds,
      provider_identity = excluded.provider_identity, renewal_lease = null, renewal_leased_until = null,
      renewal_sent_version = null, not_before = excluded.not_before, validated_at = now(),
      catalogue_fresh_until = null, updated_at = now()
  `;
}

/**
 * Makes the label of an account that everyone in the project may see: of an address, only the first letter and the
 * domain remain. The last at sign counts, because a quoted name before it may contain more at signs.
 */
export function safeLabel({ file }: Pick<ModelProvider, 'file'>, claimed: string | null): string {
  if (claimed === null) return `${file.name} account`;
  const address = /^(.).*@([^@]*)$/su.exec(claimed);
  return (address === null ? claimed : `${address[1]}…@${address[2]}`).slice(0, 200);
}

/** Returns the label of a key: its last four characters, if the rest is long enough to stay secret. */
export function keyLabel({ file }: Pick<ModelProvider, 'file'>, key: string): string {
  return key.length < 20 ? `${file.name} key` : `${file.name} key …${key.slice(-4)}`;
}
