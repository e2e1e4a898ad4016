import type { ModelProviders } from '#core/models/providers/index.ts';
import { enqueueMail } from '#core/foundation/outbox/index.ts';
import { raw, sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { ModelConnection, ModelConnectionError, ModelConnectionRef } from '../connection.ts';

/** @throws {AppError} `connection_not_found` */
export function readModelConnection(db: Db, projectId: string, id: string): Promise<ModelConnection> {
  return db.rowOr<ModelConnection>('connection_not_found')`
    select ${connectionColumns} from model_connections c
    where c.id = ${id} and c.project_id = ${projectId}
  `;
}

/** Lists every account of the project, including unusable accounts, newest first. */
export function listModelConnections(db: Db, projectId: string, page: Page): Promise<ModelConnection[]> {
  return db.rows<ModelConnection>`
    select ${connectionColumns} from model_connections c
    where c.project_id = ${projectId} ${afterCursor(page, sql`c.id`)}
    order by c.id desc limit ${page.limit + 1}
  `;
}

/** Finds an account that may be used now; undefined for an unusable account, and for an account of another project. */
export function findUsableConnection(
  db: Db,
  providers: ModelProviders,
  projectId: string,
  id: string,
): Promise<ModelConnection | undefined> {
  return db.row<ModelConnection>`
    select ${connectionColumns} from model_connections c
    where c.id = ${id} and c.project_id = ${projectId} and ${isUsable(providers)}
  `;
}

/**
 * Records why an account cannot be used for now, unless its credential was replaced meanwhile or another reason is
 * recorded. Mails the owner of the account, who alone can sign in again.
 * @returns true if this call recorded the reason
 */
export function markNotReady(
  database: Database,
  { id, projectId }: ModelConnectionRef,
  credentialVersion: number,
  error: Exclude<ModelConnectionError, 'provider_changed' | 'provider_disabled'>,
): Promise<boolean> {
  const state = error === 'plan_not_entitled' ? 'plan_not_entitled' : 'needs_reauthorization';
  return transaction(database, async (tx) => {
    const marked = await tx.row<OwnedAccount>`
      update model_connections c set state = ${state}, public_error = ${error}, renewal_lease = null,
        renewal_leased_until = null, updated_at = now()
      from projects p
      where c.id = ${id} and c.project_id = ${projectId} and c.state = 'ready'
        and c.credential_version = ${credentialVersion} and p.id = c.project_id
      returning c.owner_id as "ownerId", c.provider, c.account_label as "accountLabel",
        p.organization_id as "organizationId", p.name as "projectName"
    `;
    if (marked === undefined) return false;
    if (state === 'needs_reauthorization') {
      await mailOwner(tx, { ...marked, id, projectId }, { ...SIGN_IN_AGAIN, dedupeKey: `${id}:${credentialVersion}` });
    }
    return true;
  });
}

/** Informs the owner of an account by mail that its provider accepts no more calls until the owner pays. */
export async function mailOwnerOfEmptyAccount(tx: Db, { id, projectId }: ModelConnectionRef): Promise<void> {
  const account = await tx.row<OwnedAccount>`
    select c.owner_id as "ownerId", c.provider, c.account_label as "accountLabel",
      p.organization_id as "organizationId", p.name as "projectName"
    from model_connections c join projects p on p.id = c.project_id
    where c.id = ${id} and c.project_id = ${projectId} and c.state <> 'revoked'
  `;
  if (account !== undefined) await mailOwner(tx, { ...account, id, projectId }, NO_MONEY);
}

const SIGN_IN_AGAIN = {
  subject: 'Sign in to your model account again',
  fault: 'no longer accepts our sign-in',
  remedy: 'Routines that run on this account fail until you sign in to the account again. Only you can do that.',
};

const NO_MONEY = {
  subject: 'Your model account has no money left',
  fault: 'has no money left, or has reached a limit on spending',
  remedy:
    'Routines that run on this account fail until you add money or raise the limit at the provider. No routine is paused.',
};

interface OwnedAccount {
  readonly ownerId: string;
  readonly provider: string;
  readonly accountLabel: string;
  readonly organizationId: string;
  readonly projectName: string;
}

async function mailOwner(
  tx: Db,
  { organizationId, projectId, ownerId, provider, accountLabel, projectName }: OwnedAccount & ModelConnectionRef,
  { subject, fault, remedy, dedupeKey }: typeof NO_MONEY & { readonly dedupeKey?: string },
): Promise<void> {
  await enqueueMail(tx, {
    kind: 'model_connection',
    organizationId,
    projectId,
    routineId: null,
    runId: null,
    userIds: [ownerId],
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
    content: {
      subject,
      lines: [
        `Your account "${accountLabel}" at ${provider}, connected to the project "${projectName}", ${fault}.`,
        remedy,
      ],
      path: `/p/${projectId}/model-accounts`,
    },
  });
}

/** Returns a statement, for a common table expression, that records a use of the account for each row of `from`. */
export function useAccount(id: string, { isNewRun, from }: { readonly isNewRun: Sql; readonly from: Sql }): Sql {
  return sql`
    update model_connections set last_used_at = now(), run_count = run_count + case when ${isNewRun} then 1 else 0 end
    from ${from} where model_connections.id = ${id}`;
}

/**
 * Notes that the allowance of the account is used up until `notBefore`. If a later time is stored already, that time
 * stays.
 */
export async function waitUntil(db: Db, { id, projectId }: ModelConnectionRef, notBefore: Date): Promise<void> {
  await db.run`
    update model_connections set not_before = greatest(not_before, ${notBefore}), updated_at = now()
    where id = ${id} and project_id = ${projectId}
  `;
}

/** The columns of a connection, under the names of `ModelConnection`; `c` is the alias of its row. */
const connectionColumns = sql`
  c.id, c.project_id as "projectId", c.owner_id as "ownerId",
  (select u.name from users u where u.id = c.owner_id) as "ownerName", c.provider, c.provider_name as "providerName",
  c.provider_identity as "providerIdentity", c.account_label as "accountLabel", c.state,
  c.public_error as "publicError", c.not_before as "notBefore", c.validated_at as "validatedAt",
  c.last_used_at as "lastUsedAt", c.run_count as "runCount", c.catalogue_fetched_at as "catalogueFetchedAt",
  c.created_at as "createdAt", c.updated_at as "updatedAt", c.revoked_at as "revokedAt", c.revoked_by as "revokedBy",
  c.revoked_reason as "revokedReason", c.paused_routine_count as "pausedRoutineCount",
  c.provider_revocation as "providerRevocation",
  (select count(*)::integer from model_connection_models m where m.connection_id = c.id) as "modelCount"
`;

/**
 * Returns the condition under which an account may be used: it is ready, its provider is enabled here and is still the
 * same, and its owner is still in the project's organization.
 * @param alias of the row of `model_connections`
 */
export function isUsable(providers: Pick<ModelProviders, 'enabled'>, alias = 'c'): Sql {
  const c = raw(alias);
  const slots = providers.enabled.map(({ slot }) => slot);
  const identities = providers.enabled.map(({ identity }) => identity);
  return sql`(
    ${c}.state = 'ready'
    and (${c}.provider, ${c}.provider_identity) in (
      select * from unnest(${slots}::text[], ${identities}::text[]))
    and exists (
      select 1 from projects p join memberships m on m.organization_id = p.organization_id
      where p.id = ${c}.project_id and m.user_id = ${c}.owner_id)
  )`;
}

/**
 * Returns the time until which the allowance of an account is used up, as an SQL expression; null if some of the
 * allowance is left.
 */
export function notBeforeOf(connectionId: Sql): Sql {
  return sql`(select not_before from model_connections where id = ${connectionId})`;
}
