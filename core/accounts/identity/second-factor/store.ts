import { hash } from 'node:crypto';
import { APIError } from 'better-auth/api';
import { Secret, TOTP } from 'otpauth';
import { now } from '#lib/clock.ts';
import type { Db } from '#lib/database/index.ts';
import { SecretUnreadable, type SecretBox, type SecretPlace } from '#lib/secrets/index.ts';

/** A code of the authenticator, or a recovery code. */
export interface FactorProof {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

interface SecondFactor {
  readonly confirmedAt: Date;
  readonly recoveryCodesLeft: number;
}

const RECOVERY_CODES = 10;

/** Reads the second factor of a person; undefined until it is confirmed. */
export function findSecondFactor(db: Db, userId: string): Promise<SecondFactor | undefined> {
  return db.row<SecondFactor>`
    select confirmed_at as "confirmedAt", (
      select count(*) from recovery_codes c where c.user_id = f.user_id and c.used_at is null
    ) as "recoveryCodesLeft"
    from second_factors f where user_id = ${userId} and confirmed_at is not null
  `;
}

/**
 * Stores a new secret in place of an unconfirmed secret. The secret is valid once a code confirms it.
 * @returns the secret; undefined if the person has a second factor already
 */
export async function beginSecondFactor(db: Db, secrets: SecretBox, userId: string): Promise<string | undefined> {
  // A secret of 160 bits, as RFC 4226 recommends.
  const secret = new Secret({ size: 20 }).base32;
  const sealed = secrets.seal(secret, placeOf(userId));
  const kept = await db.run`
    insert into second_factors as f (user_id, secret) values (${userId}, ${sealed})
    on conflict (user_id) do update set secret = excluded.secret, created_at = now()
    where f.confirmed_at is null
  `;
  return kept === 0 ? undefined : secret;
}

/**
 * Confirms the stored secret by one of its codes.
 * @returns the recovery codes; undefined if the code is wrong or there is no secret
 */
export async function confirmSecondFactor(
  tx: Db,
  secrets: SecretBox,
  { userId, code }: { userId: string; code: string },
): Promise<string[] | undefined> {
  const begun = await tx.row<{
    secret: string;
  }>`select secret from second_factors where user_id = ${userId} and confirmed_at is null for update`;
  if (begun === undefined) return undefined;
  const step = stepOfCode(openFactor(secrets, userId, begun.secret), code);
  if (step === undefined) return undefined;
  await tx.run`update second_factors set confirmed_at = now(), last_step = ${step} where user_id = ${userId}`;
  return replaceRecoveryCodes(tx, userId);
}

/** Replaces the recovery codes by ten new ones. The database has only their hashes. */
export async function replaceRecoveryCodes(tx: Db, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await tx.run`delete from recovery_codes where user_id = ${userId}`;
  await tx.run`
    insert into recovery_codes (user_id, hash)
    select ${userId}, unnest(${codes.map(hashRecoveryCode)}::bytea[])
  `;
  return codes;
}

/**
 * Uses up a code of the authenticator or a recovery code.
 * @returns undefined when the code is wrong or was used before
 */
export async function useSecondFactor(
  tx: Db,
  secrets: SecretBox,
  userId: string,
  { code, recoveryCode }: FactorProof,
): Promise<'code' | 'recovery_code' | undefined> {
  const factor = await tx.row<{ secret: string; lastStep: number }>`
    select secret, last_step as "lastStep" from second_factors
    where user_id = ${userId} and confirmed_at is not null for update
  `;
  if (factor === undefined) return undefined;
  if (code !== undefined) {
    const step = stepOfCode(openFactor(secrets, userId, factor.secret), code);
    if (step === undefined || step <= factor.lastStep) return undefined;
    await tx.run`update second_factors set last_step = ${step} where user_id = ${userId}`;
    return 'code';
  }
  if (recoveryCode === undefined) return undefined;
  const used = await tx.run`
    update recovery_codes set used_at = now()
    where user_id = ${userId} and hash = ${hashRecoveryCode(recoveryCode)} and used_at is null
  `;
  return used === 0 ? undefined : 'recovery_code';
}

/** @throws {APIError} `service_unavailable`, in the form of the library, which turns any other error into a 500 */
function openFactor(secrets: SecretBox, userId: string, sealed: string): string {
  try {
    return secrets.open(sealed, placeOf(userId));
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    throw new APIError('SERVICE_UNAVAILABLE', { code: error.code, message: error.message });
  }
}

/**
 * Removes the second factor of a person with its recovery codes.
 * @returns false without a second factor
 */
export async function removeSecondFactor(tx: Db, userId: string): Promise<boolean> {
  const removed = await tx.row<{ wasConfirmed: boolean }>`
    delete from second_factors where user_id = ${userId}
    returning confirmed_at is not null as "wasConfirmed"
  `;
  return removed?.wasConfirmed === true;
}

function placeOf(userId: string): SecretPlace {
  return { table: 'second_factors', row: userId, column: 'secret' };
}

/** Makes a code of 120 bits. From 112 bits on a plain hash is enough (NIST SP 800-63B, section 3.1.2.2). */
function newRecoveryCode(): string {
  const letters = new Secret({ size: 15 }).base32.toLowerCase();
  return letters.match(/.{4}/g)?.join('-') ?? letters;
}

function hashRecoveryCode(code: string): Buffer {
  return hash('sha256', code.toLowerCase().replaceAll(/[^a-z2-7]/g, ''), 'buffer');
}

/** Builds the address that an authenticator reads from a QR code. */
export function totpUri(secret: string, of: { issuer: string; account: string }): string {
  return new TOTP({ secret, issuer: of.issuer, label: of.account }).toString();
}

/**
 * Finds the time step (RFC 6238, 30 seconds) of a code of six digits. The steps before and after the present one count
 * too, for clocks that differ. Returns undefined for a wrong code.
 */
export function stepOfCode(secret: string, code: string, timestamp = now()) {
  const totp = new TOTP({ secret });
  const delta = totp.validate({ token: code, timestamp, window: 1 });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}
