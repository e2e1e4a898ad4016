import { execute, sql, type Db } from '#lib/database/index.ts';
import type { ModelConnectionError, ModelConnectionRef } from '../connection.ts';

/**
 * Notes why an account cannot be used for now, once: a credential that has replaced the one named is left alone, and a
 * connection that is not ready already has its reason.
 * @returns whether this call changed it
 */
export async function markNotReady(
  db: Db,
  { id, projectId }: ModelConnectionRef,
  credentialVersion: number,
  error: Exclude<ModelConnectionError, 'provider_changed' | 'provider_disabled'>,
): Promise<boolean> {
  const state = error === 'plan_not_entitled' ? 'plan_not_entitled' : 'needs_reauthorization';
  const touched = await execute(
    db,
    sql`
      update model_connections set state = ${state}, public_error = ${error}, renewal_lease = null,
        renewal_leased_until = null, updated_at = now()
      where id = ${id} and project_id = ${projectId} and state = 'ready'
        and credential_version = ${credentialVersion}
    `,
  );
  return touched === 1;
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
