import { execute, row, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { AttemptOwner } from './attempt.ts';

/** Sign-ins that one person may begin at one provider within a quarter of an hour. */
const MAX_STARTS = 20;

/**
 * Refuses a person who starts over and over: the provider counts that against the operator's client. @throws {AppError}
 * `rate_limited`
 */
export async function assertMayStart(
  db: Db,
  owner: Pick<AttemptOwner, 'projectId' | 'userId'>,
  provider: ProviderSlot,
): Promise<void> {
  const found = await row<{ starts: number }>(
    db,
    sql`
      select count(*)::integer as starts from model_sign_ins
      where project_id = ${owner.projectId} and user_id = ${owner.userId} and provider = ${provider}
        and created_at > now() - interval '15 minutes'
    `,
  );
  if ((found?.starts ?? 0) < MAX_STARTS) return;
  throw new AppError('rate_limited', 'Too many sign-ins were begun here; wait a few minutes.', {
    'Retry-After': '300',
  });
}

/** Notes that a person has a key tried, for the limit on that; it holds nothing of the key. */
export async function recordKeyAttempt(
  db: Db,
  owner: AttemptOwner,
  attempt: {
    readonly id: string;
    readonly provider: { readonly slot: string; readonly hash: string };
  },
): Promise<void> {
  const { slot, hash } = attempt.provider;
  await execute(
    db,
    sql`
      insert into model_sign_ins (id, project_id, user_id, session_id, provider, file_hash, state, ended_at, expires_at)
      values (${attempt.id}, ${owner.projectId}, ${owner.userId}, ${owner.sessionId}, ${slot}, ${hash}, 'succeeded',
        now(), now())
    `,
  );
}
