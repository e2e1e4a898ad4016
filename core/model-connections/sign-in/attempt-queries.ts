import { createHash } from 'node:crypto';
import {
  execute,
  row,
  sql,
  transaction,
  type Database,
  type Db,
  type Sql,
} from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import {
  attemptSecrets,
  type Attempt,
  type AttemptOwner,
  type AttemptSecrets,
  type AttemptState,
} from './attempt.ts';
import type { SignInFailureReason } from './failure.ts';

/** The columns of an attempt, under the names of `Attempt`. */
export const attemptColumns = sql`
  id, project_id as "projectId", user_id as "userId", session_id as "sessionId", provider, file_hash as "fileHash",
  connection_id as "connectionId", state, error, sealed, interval_seconds as "intervalSeconds",
  next_poll_at as "nextPollAt", expires_at as "expiresAt", created_at as "createdAt"
`;

export interface NewAttempt extends AttemptOwner {
  readonly id: string;
  readonly provider: ProviderSlot;
  readonly fileHash: string;
  readonly connectionId: string | null;
  readonly stateHash: Buffer | null;
  readonly secrets: AttemptSecrets;
  readonly intervalSeconds: number | null;
  readonly expiresInSeconds: number;
}

/** Keeps an attempt in place of the one that the person had under way there. */
export function insertAttempt(
  database: Database,
  box: SecretBox,
  input: NewAttempt,
): Promise<Attempt> {
  const sealed = sealSecrets(box, input.id, input.secrets);
  return transaction(database, async (tx) => {
    const key = `model sign-in ${input.projectId} ${input.userId} ${input.provider}`;
    await row(tx, sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`);
    await execute(
      tx,
      sql`
        update model_sign_ins set ${ended('cancelled', null)}
        where project_id = ${input.projectId} and user_id = ${input.userId}
          and provider = ${input.provider} and state = 'pending'
      `,
    );
    const inserted = await row<Attempt>(
      tx,
      sql`
        insert into model_sign_ins (id, project_id, user_id, session_id, provider, file_hash, connection_id, state_hash,
          sealed, interval_seconds, next_poll_at, expires_at)
        values (${input.id}, ${input.projectId}, ${input.userId}, ${input.sessionId}, ${input.provider},
          ${input.fileHash}, ${input.connectionId}, ${input.stateHash}, ${sealed}, ${input.intervalSeconds},
          now() + make_interval(secs => ${input.intervalSeconds ?? 0}::integer),
          now() + make_interval(secs => ${input.expiresInSeconds}::integer))
        returning ${attemptColumns}
      `,
    );
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
): Promise<Attempt> {
  await expireOwn(db, owner);
  const found = await row<Attempt>(
    db,
    sql`
      select ${attemptColumns} from model_sign_ins
      where id = ${id} and project_id = ${owner.projectId} and user_id = ${owner.userId}
        and provider = ${provider}
    `,
  );
  if (found === undefined) throw new AppError('attempt_not_found');
  return found;
}

/** Ends a pending attempt. @returns false when it had ended already */
export async function endAttempt(
  db: Db,
  { id, projectId }: Pick<Attempt, 'id' | 'projectId'>,
  end: {
    readonly state: Exclude<AttemptState, 'pending'>;
    readonly error?: SignInFailureReason;
    readonly connectionId?: string;
  },
): Promise<boolean> {
  const touched = await execute(
    db,
    sql`
      update model_sign_ins set ${ended(end.state, end.error ?? null)},
        connection_id = coalesce(${end.connectionId ?? null}, connection_id)
      where id = ${id} and project_id = ${projectId} and state = 'pending'
    `,
  );
  return touched === 1;
}

/** Ends the attempts of a project that is being deleted, and with them what they have sealed. */
export async function endAttemptsOfProject(tx: Db, projectId: string): Promise<void> {
  await execute(
    tx,
    sql`
      update model_sign_ins set ${ended('cancelled', null)}
      where project_id = ${projectId} and state = 'pending'
    `,
  );
}

/** Ends what has run out, a day later forgets it. */
export async function sweepAttempts(db: Db): Promise<void> {
  await execute(
    db,
    sql`
      update model_sign_ins set ${ended('expired', null)}
      where state = 'pending' and expires_at <= now()
    `,
  );
  await execute(db, sql`delete from model_sign_ins where expires_at < now() - interval '1 day'`);
}

/** Opens what an attempt has sealed. @throws {AppError} `attempt_expired` when it is over */
export function openSecrets(box: SecretBox, { id, sealed }: Attempt): AttemptSecrets {
  if (sealed === null) throw new AppError('attempt_expired');
  return attemptSecrets.parse(JSON.parse(box.open(sealed, place(id))));
}

export function hashState(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}

async function expireOwn(
  db: Db,
  { projectId, userId }: Pick<AttemptOwner, 'projectId' | 'userId'>,
): Promise<void> {
  await execute(
    db,
    sql`
      update model_sign_ins set ${ended('expired', null)}
      where project_id = ${projectId} and user_id = ${userId} and state = 'pending' and expires_at <= now()
    `,
  );
}

function ended(state: AttemptState, error: SignInFailureReason | null): Sql {
  return sql`state = ${state}, error = ${error}, sealed = null, state_hash = null, polling_until = null,
    ended_at = now()`;
}

export function sealSecrets(box: SecretBox, id: string, secrets: AttemptSecrets): string {
  return box.seal(JSON.stringify(secrets), place(id));
}

function place(id: string) {
  return { table: 'model_sign_ins', row: id, column: 'sealed' };
}
