import { createHash } from 'node:crypto';
import { isStillMember } from '#core/accounts/identity/index.ts';
import { untilMade, type Made } from '#core/integrations/connections/index.ts';
import { sql, lockKey, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import {
  attemptSecrets,
  type SignInAttempt,
  type AttemptOwner,
  type AttemptSecrets,
  type AttemptState,
} from './attempt.ts';
import type { SignInFailureReason } from './failure.ts';

/** The columns of an attempt, under the names of `SignInAttempt`. */
const attemptColumns = sql`
  id, project_id as "projectId", user_id as "userId", session_id as "sessionId", provider, file_hash as "fileHash",
  connection_id as "connectionId", state, error, sealed, interval_seconds as "intervalSeconds",
  next_poll_at as "nextPollAt", expires_at as "expiresAt", created_at as "createdAt"
`;

type GivenFields = keyof AttemptOwner | 'id' | 'provider' | 'fileHash' | 'connectionId' | 'intervalSeconds';

export interface NewAttempt extends Pick<SignInAttempt, GivenFields> {
  readonly stateHash: Buffer | null;
  readonly secrets: AttemptSecrets;
  readonly expiresInSeconds: number;
}

/** Stores an attempt in place of the person's open attempt at the provider. */
export function insertAttempt(database: Database, box: SecretBox, input: NewAttempt): Promise<SignInAttempt> {
  const sealed = sealSecrets(box, input.id, input.secrets);
  return transaction(database, async (tx) => {
    await lockKey(tx, `model sign-in ${input.projectId} ${input.userId} ${input.provider}`);
    await tx.run`
      update model_sign_ins set ${ended('cancelled', null)}
      where project_id = ${input.projectId} and user_id = ${input.userId}
        and provider = ${input.provider} and state = 'pending'
    `;
    const inserted = await tx.row<SignInAttempt>`
      insert into model_sign_ins (id, project_id, user_id, session_id, provider, file_hash, connection_id, state_hash,
        sealed, interval_seconds, next_poll_at, expires_at)
      values (${input.id}, ${input.projectId}, ${input.userId}, ${input.sessionId}, ${input.provider},
        ${input.fileHash}, ${input.connectionId}, ${input.stateHash}, ${sealed}, ${input.intervalSeconds},
        now() + make_interval(secs => ${input.intervalSeconds ?? 0}::integer),
        now() + make_interval(secs => ${input.expiresInSeconds}::integer))
      returning ${attemptColumns}
    `;
    if (inserted === undefined) throw new Error('the sign-in was not kept');
    return inserted;
  });
}

/** Reads an attempt of this person in this project. @throws {AppError} `attempt_not_found` */
export async function readAttempt(
  db: Db,
  owner: Pick<AttemptOwner, 'projectId' | 'userId'>,
  provider: ProviderSlot,
  id: string,
): Promise<SignInAttempt> {
  await expireOwn(db, owner);
  return db.rowOr<SignInAttempt>('attempt_not_found')`
    select ${attemptColumns} from model_sign_ins
    where id = ${id} and project_id = ${owner.projectId} and user_id = ${owner.userId}
      and provider = ${provider}
  `;
}

/** Ends a pending attempt. @returns false when the attempt had ended already */
export async function endAttempt(
  db: Db,
  { id, projectId }: Pick<SignInAttempt, 'id' | 'projectId'>,
  end: {
    readonly state: Exclude<AttemptState, 'pending'>;
    readonly error?: SignInFailureReason;
    readonly connectionId?: string;
  },
): Promise<boolean> {
  const touched = await db.run`
    update model_sign_ins set ${ended(end.state, end.error ?? null)},
      connection_id = coalesce(${end.connectionId ?? null}, connection_id)
    where id = ${id} and project_id = ${projectId} and state = 'pending'
  `;
  return touched === 1;
}

/** Ends the attempts of a project that is being deleted, and erases their secrets. */
export async function endAttemptsOfProject(tx: Db, projectId: string): Promise<void> {
  await tx.run`
    update model_sign_ins set ${ended('cancelled', null)}
    where project_id = ${projectId} and state = 'pending'
  `;
}

/** Ends attempts whose time is over, and deletes each a day later. */
export async function sweepAttempts(db: Db): Promise<void> {
  await db.run`
    update model_sign_ins set ${ended('expired', null)}
    where state = 'pending' and expires_at <= now()
  `;
  await db.run`delete from model_sign_ins where expires_at < now() - interval '1 day'`;
}

/** Opens the secrets of an attempt. @throws {AppError} `attempt_expired` when the attempt is over */
export function openSecrets(box: SecretBox, { id, sealed }: SignInAttempt): AttemptSecrets {
  if (sealed === null) throw new AppError('attempt_expired');
  return attemptSecrets.parse(JSON.parse(box.open(sealed, place(id))));
}

export function hashState(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}

async function expireOwn(db: Db, { projectId, userId }: Pick<AttemptOwner, 'projectId' | 'userId'>): Promise<void> {
  await db.run`
    update model_sign_ins set ${ended('expired', null)}
    where project_id = ${projectId} and user_id = ${userId} and state = 'pending' and expires_at <= now()
  `;
}

function ended(state: AttemptState, error: SignInFailureReason | null): Sql {
  // Keep the state of a successful sign-in, because a browser may open the return again.
  const stateHash = state === 'succeeded' ? sql`state_hash` : sql`null`;
  return sql`state = ${state}, error = ${error}, sealed = null, state_hash = ${stateHash}, polling_until = null,
    ended_at = now()`;
}

function sealSecrets(box: SecretBox, id: string, secrets: AttemptSecrets): string {
  return box.seal(JSON.stringify(secrets), place(id));
}

function place(id: string) {
  return { table: 'model_sign_ins', row: id, column: 'sealed' };
}

/**
 * Takes the turn to ask the provider about an attempt, so that only one caller asks, at most once an interval.
 * @returns undefined when it is too early, another caller has the turn, or the attempt is over
 */
export function takeTurn(db: Db, { id, projectId }: SignInAttempt): Promise<SignInAttempt | undefined> {
  return db.row<SignInAttempt>`
    update model_sign_ins set polling_until = now() + interval '2 minutes',
      next_poll_at = now() + make_interval(secs => interval_seconds)
    where id = ${id} and project_id = ${projectId} and state = 'pending' and expires_at > now()
      and next_poll_at <= now() and (polling_until is null or polling_until <= now())
    returning ${attemptColumns}
  `;
}

/** Gives the turn back. `slowDown` makes all later intervals five seconds longer, `pause` doubles the next interval. */
export async function endTurn(
  db: Db,
  { id, projectId }: SignInAttempt,
  wait: { readonly slowDown?: boolean; readonly pause?: boolean } = {},
): Promise<void> {
  const added = wait.slowDown === true ? 5 : 0;
  const factor = wait.pause === true ? 2 : 1;
  await db.run`
    update model_sign_ins set polling_until = null, interval_seconds = interval_seconds + ${added}::integer,
      next_poll_at = now() + make_interval(secs => (interval_seconds + ${added}::integer) * ${factor}::integer)
    where id = ${id} and project_id = ${projectId} and state = 'pending'
  `;
}

/** The data with which a browser returns from a provider. */
interface Presented {
  readonly state: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly provider: ProviderSlot;
}

/**
 * Takes an OAuth attempt by its state, for the person and session that began it. A state works once, and is used up
 * even when the sign-in then fails. No one polls for such an attempt: `polling_until` marks the attempt as taken.
 */
export function takeByState(
  db: Db,
  presented: Presented,
): Promise<(SignInAttempt & { readonly live: boolean; readonly member: boolean }) | undefined> {
  return db.row`
    update model_sign_ins s set polling_until = s.expires_at
    where ${isPresented(presented)} and s.state = 'pending' and s.polling_until is null
    returning ${attemptColumns}, s.expires_at > now() as live, ${isStillMember(sql`s`)} as member
  `;
}

/** Finds the account of a sign-in that this session has ended or is ending; undefined if there is no such sign-in. */
export function findMadeAccount(db: Db, presented: Presented): Promise<Made | undefined> {
  return untilMade(
    () => db.row`
      select s.project_id as "projectId", case when s.state = 'succeeded' then s.connection_id end as "connectionId"
      from model_sign_ins s
      where ${isPresented(presented)} and (s.state = 'succeeded' or s.polling_until is not null)
        and s.expires_at > now() and ${isStillMember(sql`s`)}
    `,
  );
}

function isPresented({ state, userId, sessionId, provider }: Presented): Sql {
  return sql`s.state_hash = ${hashState(state)} and s.user_id = ${userId} and s.session_id = ${sessionId}
    and s.provider = ${provider}`;
}

/**
 * Stores the state of an attempt, from which a later turn continues.
 * @returns false when the attempt has ended meanwhile
 */
export async function keepSecrets(
  db: Db,
  box: SecretBox,
  { id, projectId }: SignInAttempt,
  secrets: AttemptSecrets,
): Promise<boolean> {
  const touched = await db.run`
    update model_sign_ins set sealed = ${sealSecrets(box, id, secrets)}
    where id = ${id} and project_id = ${projectId} and state = 'pending'
  `;
  return touched === 1;
}
