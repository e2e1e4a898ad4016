import { hash, randomBytes, randomInt } from 'node:crypto';
import type { Actor } from '#core/foundation/audit/index.ts';
import { assertAdmin, createApiKey, holdProject, type Scope } from '#core/accounts/organizations/index.ts';
import { assertWithinLimit, uncount, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { now } from '#lib/clock.ts';
import { sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { mailApproval, type Access } from './mail.ts';

/** A terminal that waits for a person's consent, with the facts that the person sees (RFC 8628). */
export interface TerminalSignIn {
  /** Name that the terminal gave itself. The name proves nothing. */
  readonly host: string;
  readonly address: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

interface TerminalCodes {
  /** Code that only the terminal knows. */
  readonly deviceCode: string;
  /** Code that the terminal shows to the person: `ABCD-EFGH`. */
  readonly userCode: string;
}

/** Codes are valid for ten minutes, and the terminal asks every five seconds. */
export const TERMINAL_SECONDS = { expiresIn: 600, interval: 5 };

/** Days that the key of a terminal works; then the person signs in again. */
const KEY_DAYS = 90;

const REQUESTS: ThrottleRule = { name: 'terminal-code', limit: 20, windowSeconds: 15 * 60 };
/** Limits the wrong codes of a person. There are 20^8 codes. */
const CODES: ThrottleRule = { name: 'terminal-guess', limit: 10, windowSeconds: 15 * 60 };
const TOO_MANY = 'Too many codes; wait a few minutes.';

/**
 * Begins the sign-in of a terminal.
 * @throws {AppError} `rate_limited`
 * @param input.network network of the caller, for the limit
 */
export async function requestTerminalSignIn(
  db: Db,
  input: { readonly host: string; readonly address: string; readonly network: string },
): Promise<TerminalCodes> {
  await assertWithinLimit(db, REQUESTS, input.network, TOO_MANY);
  const deviceCode = randomBytes(32).toString('base64url');
  const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`;
  await db.run`
    insert into terminal_sign_ins (device_hash, user_code_hash, host, address, expires_at)
    values (${hashOf(deviceCode)}, ${hashOf(letters)}, ${input.host}, ${input.address},
      now() + make_interval(secs => ${TERMINAL_SECONDS.expiresIn}))
  `;
  return { deviceCode, userCode };
}

/** Consonants only, so that a code spells no word and no letter looks like a digit (RFC 8628, section 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/**
 * Finds the terminal that shows this code. @throws {AppError} `rate_limited`, `attempt_not_found`, `attempt_expired`
 */
export async function readTerminalSignIn(db: Db, userId: string, userCode: string): Promise<TerminalSignIn> {
  await assertWithinLimit(db, CODES, userId, TOO_MANY);
  const found = await db.rowOr<TerminalSignIn & { isOver: boolean }>(
    'attempt_not_found',
    'No terminal waits with this code.',
  )`
    select host, address, created_at as "createdAt", expires_at as "expiresAt", expires_at <= now() as "isOver"
    from terminal_sign_ins where user_code_hash = ${hashOf(lettersOf(userCode))} and state = 'pending'
  `;
  await uncount(db, CODES, userId);
  if (found.isOver) throw new AppError('attempt_expired', 'The code has expired; begin again.');
  return found;
}

/**
 * Approves a terminal. The key is made when the terminal next asks for it.
 * @throws {AppError} of `readTerminalSignIn`, and `forbidden` for scopes that this person may give no key
 */
export async function approveTerminalSignIn(
  database: Database,
  by: Actor & { readonly id: string },
  input: Access & { readonly userCode: string },
): Promise<TerminalSignIn> {
  const { userCode, organizationId, projectId, scopes } = input;
  const found = await readTerminalSignIn(database, by.id, userCode);
  await transaction(database, async (tx) => {
    await holdProject(tx, projectId);
    // `createApiKey` checks the role too, but only when the terminal fetches the key. This check tells the person now.
    if (includeWriting(scopes)) await assertAdmin(tx, { organizationId, userId: by.id });
    await decide(
      tx,
      userCode,
      sql`state = 'approved', decided_by = ${by.id}, decided_from = ${by.address ?? ''},
        project_id = ${projectId}, scopes = ${scopes}`,
    );
    const program = `A terminal that calls itself "${found.host}", at the address ${found.address},`;
    await mailApproval(tx, { organizationId, projectId, userId: by.id, program, scopes, page: 'api-keys' });
  });
  return found;
}

/** Refuses a terminal: its next request for a key gets `access_denied`. @throws {AppError} of `readTerminalSignIn` */
export async function denyTerminalSignIn(db: Db, userId: string, userCode: string): Promise<TerminalSignIn> {
  const found = await readTerminalSignIn(db, userId, userCode);
  await decide(db, userCode, sql`state = 'denied', decided_by = ${userId}`);
  return found;
}

async function decide(db: Db, userCode: string, values: ReturnType<typeof sql>): Promise<void> {
  const decided = await db.run`
    update terminal_sign_ins set ${values}
    where user_code_hash = ${hashOf(lettersOf(userCode))} and state = 'pending' and expires_at > now()
  `;
  // The person has decided in another tab meanwhile.
  if (decided === 0) throw new AppError('attempt_not_found', 'No terminal waits with this code.');
}

/** Errors that tell a terminal whether to continue asking (RFC 8628, section 3.5). */
type TerminalError = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant';

/** The key that a person approved for a terminal, or the error. */
export type TerminalGrant = { readonly error: TerminalError; readonly reason: string } | ProgramKey;

/** A project's API key that a program receives. It works until `expiresAt`. */
export interface ProgramKey {
  readonly key: string;
  readonly projectId: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
}

interface Waiting extends Access {
  readonly host: string;
  readonly state: 'pending' | 'approved' | 'denied';
  readonly isOver: boolean;
  readonly isEarly: boolean;
  readonly decidedBy: string;
  readonly decidedFrom: string;
}

/**
 * Redeems a device code: makes the API key that a person approved, in their name, and forgets the code in the same
 * transaction, so that the code works once. The person's rights are checked again.
 */
export async function redeemTerminalSignIn(
  database: Database,
  { deviceCode, tag }: { readonly deviceCode: string; readonly tag: string },
): Promise<TerminalGrant> {
  const deviceHash = hashOf(deviceCode);
  try {
    return await transaction(database, async (tx) => {
      const found = await tx.row<Waiting>`
        select t.host, t.state, t.expires_at <= now() as "isOver",
          coalesce(t.polled_at > now() - make_interval(secs => ${TERMINAL_SECONDS.interval - 1}), false) as "isEarly",
          t.decided_by as "decidedBy", t.decided_from as "decidedFrom", t.project_id as "projectId", t.scopes,
          (select p.organization_id from projects p where p.id = t.project_id) as "organizationId"
        from terminal_sign_ins t where t.device_hash = ${deviceHash} for no key update
      `;
      if (found === undefined) return refusal('invalid_grant');
      if (found.state === 'denied') return refusal('access_denied');
      if (found.isOver) return refusal('expired_token');
      if (found.state === 'pending') {
        await tx.run`update terminal_sign_ins set polled_at = now() where device_hash = ${deviceHash}`;
        return refusal(found.isEarly ? 'slow_down' : 'authorization_pending');
      }
      await tx.run`delete from terminal_sign_ins where device_hash = ${deviceHash}`;
      return makeKey(tx, found, tag);
    });
  } catch (error) {
    // Since the approval the person left or lost their role, or the project got too many keys.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    await database.run`delete from terminal_sign_ins where device_hash = ${deviceHash}`;
    return { error: 'access_denied', reason: error.message };
  }
}

async function makeKey(tx: Db, found: Waiting, tag: string): Promise<TerminalGrant> {
  const { host: name, decidedBy, decidedFrom, projectId, organizationId, scopes } = found;
  const expiresAt = new Date(now() + KEY_DAYS * 24 * 60 * 60 * 1_000);
  const by = { kind: 'person', id: decidedBy, address: decidedFrom } as const;
  const input = { organizationId, projectId, tag, name, scopes, expiresAt };
  const { plaintext: key } = await createApiKey(tx, by, {
    id: newId('apiKey'),
    ...input,
    through: 'sign-in of a terminal',
  });
  return { key, projectId, scopes, expiresAt };
}

const REASONS: Readonly<Record<TerminalError, string>> = {
  authorization_pending: 'The person has not decided yet.',
  slow_down: 'Ask less often: add five seconds to the interval.',
  access_denied: 'The person denied the sign-in.',
  expired_token: 'The code has expired; begin again.',
  invalid_grant: 'The device code is unknown or was used.',
};

function refusal(error: TerminalError): TerminalGrant {
  return { error, reason: REASONS[error] };
}

/** Response to an unknown device code. */
export const UNKNOWN_CODE = refusal('invalid_grant');

/** Tells whether scopes allow changes. Only owners and admins give such scopes to a program. */
export function includeWriting(scopes: readonly Scope[]): boolean {
  return scopes.some((scope) => scope.endsWith(':write'));
}

function lettersOf(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
}

function hashOf(code: string): Buffer {
  return hash('sha256', code, 'buffer');
}
