import { enqueueMail } from '#core/outbox/index.ts';
import { execute, row, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import type { ModelConnectionError, ModelConnectionRef } from '../connection.ts';

/**
 * Notes why an account cannot be used for now, once: a credential that has replaced the one named is left alone, and a
 * connection that is not ready already has its reason. Its owner, who alone can put it right, is mailed.
 * @returns whether this call changed it
 */
export function markNotReady(
  database: Database,
  { id, projectId }: ModelConnectionRef,
  credentialVersion: number,
  error: Exclude<ModelConnectionError, 'provider_changed' | 'provider_disabled'>,
): Promise<boolean> {
  const state = error === 'plan_not_entitled' ? 'plan_not_entitled' : 'needs_reauthorization';
  return transaction(database, async (tx) => {
    const marked = await row<NotReady>(
      tx,
      sql`
        update model_connections c set state = ${state}, public_error = ${error}, renewal_lease = null,
          renewal_leased_until = null, updated_at = now()
        from projects p
        where c.id = ${id} and c.project_id = ${projectId} and c.state = 'ready'
          and c.credential_version = ${credentialVersion} and p.id = c.project_id
        returning c.owner_id as "ownerId", c.provider, c.account_label as "accountLabel",
          p.organization_id as "organizationId", p.name as "projectName"
      `,
    );
    if (marked === undefined) return false;
    if (state === 'needs_reauthorization') {
      await mailOwner(tx, { ...marked, id, projectId, credentialVersion });
    }
    return true;
  });
}

interface NotReady {
  readonly ownerId: string;
  readonly provider: string;
  readonly accountLabel: string;
  readonly organizationId: string;
  readonly projectName: string;
}

async function mailOwner(
  tx: Db,
  account: NotReady & ModelConnectionRef & { readonly credentialVersion: number },
): Promise<void> {
  const { id, projectId, organizationId, ownerId, provider, accountLabel, projectName } = account;
  await enqueueMail(tx, {
    kind: 'model_connection',
    organizationId,
    projectId,
    routineId: null,
    runId: null,
    userIds: [ownerId],
    dedupeKey: `${id}:${account.credentialVersion}`,
    content: {
      subject: 'Sign in to your model account again',
      lines: [
        `Your account "${accountLabel}" at ${provider}, connected to the project "${projectName}", no longer lets us in.`,
        'Routines that run on it fail until you sign in to it again, which nobody else can do.',
      ],
      path: `/p/${projectId}/model-accounts`,
    },
  });
}

/** Notes that the allowance of the account is used up until then. A later time stays. */
export async function waitUntil(
  db: Db,
  { id, projectId }: ModelConnectionRef,
  notBefore: Date,
): Promise<void> {
  await execute(
    db,
    sql`
      update model_connections set not_before = greatest(not_before, ${notBefore}), updated_at = now()
      where id = ${id} and project_id = ${projectId}
    `,
  );
}
