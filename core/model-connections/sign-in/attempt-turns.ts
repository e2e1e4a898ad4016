import { lacksSecondFactor } from '#core/identity/index.ts';
import { execute, row, sql, type Db } from '#lib/database/index.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import { attemptColumns as columns, hashState, sealSecrets } from './attempt-queries.ts';
import type { Attempt, AttemptSecrets } from './attempt.ts';

/**
 * Takes the turn to ask the provider about an attempt, so that however many poll, one asks, at most once an interval.
 * @returns undefined when it is nobody's turn yet, somebody else's, or the attempt is over
 */
export function takeTurn(db: Db, { id, projectId }: Attempt): Promise<Attempt | undefined> {
  return row<Attempt>(
    db,
    sql`
      update model_sign_ins set polling_until = now() + interval '2 minutes',
        next_poll_at = now() + make_interval(secs => interval_seconds)
      where id = ${id} and project_id = ${projectId} and state = 'pending' and expires_at > now()
        and next_poll_at <= now() and (polling_until is null or polling_until <= now())
      returning ${columns}
    `,
  );
}

/**
 * Gives the turn back; `slowDown` makes every later interval five seconds longer, `pause` only the next one twice as
 * long.
 */
export async function endTurn(
  db: Db,
  { id, projectId }: Attempt,
  wait: { readonly slowDown?: boolean; readonly pause?: boolean } = {},
): Promise<void> {
  const added = wait.slowDown === true ? 5 : 0;
  const factor = wait.pause === true ? 2 : 1;
  await execute(
    db,
    sql`
      update model_sign_ins set polling_until = null, interval_seconds = interval_seconds + ${added}::integer,
        next_poll_at = now() + make_interval(secs => (interval_seconds + ${added}::integer) * ${factor}::integer)
      where id = ${id} and project_id = ${projectId} and state = 'pending'
    `,
  );
}

/**
 * Takes an OAuth attempt by its state, which works once, in the session that began it and for that person; used by
 * that session it is used up, whatever comes of it.
 */
export function takeByState(
  db: Db,
  presented: {
    readonly state: string;
    readonly userId: string;
    readonly sessionId: string;
    readonly provider: ProviderSlot;
  },
): Promise<(Attempt & { readonly live: boolean; readonly member: boolean }) | undefined> {
  return row(
    db,
    sql`
      update model_sign_ins s set state_hash = null
      where s.state_hash = ${hashState(presented.state)} and s.user_id = ${presented.userId}
        and s.session_id = ${presented.sessionId} and s.provider = ${presented.provider} and s.state = 'pending'
      returning ${columns}, s.expires_at > now() as live,
        exists (
          select 1 from projects p join memberships m on m.organization_id = p.organization_id
          join organizations o on o.id = p.organization_id
          where p.id = s.project_id and m.user_id = s.user_id and p.deleted_at is null
            and not ${lacksSecondFactor(sql`o`, sql`s.user_id`)}) as member
    `,
  );
}

/** Keeps what a later turn goes on from. @returns false when the attempt is over meanwhile */
export async function keepSecrets(
  db: Db,
  box: SecretBox,
  { id, projectId }: Attempt,
  secrets: AttemptSecrets,
): Promise<boolean> {
  const touched = await execute(
    db,
    sql`
      update model_sign_ins set sealed = ${sealSecrets(box, id, secrets)}
      where id = ${id} and project_id = ${projectId} and state = 'pending'
    `,
  );
  return touched === 1;
}
