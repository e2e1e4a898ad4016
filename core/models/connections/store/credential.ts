import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { sql, type Db } from '#lib/database/index.ts';
import { hasNoNewRefusal, oneMoreRefusal, refusalsOf, type Refusals } from '#lib/shared-renewal.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { ModelConnectionRef, ModelConnectionState } from '../connection.ts';

/** Credential of an account, sealed for the row of its connection. */
export const modelCredential = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('oauth'),
    accessToken: z.string(),
    refreshToken: z.string().nullable(),
    /** The claim that the provider wants in a header. */
    account: z.string().nullable(),
    /** The client that the tokens were issued to; the operator's own unless the provider issued another client. */
    clientId: z.string(),
  }),
  z.strictObject({ kind: z.literal('api_key'), key: z.string() }),
]);
export type ModelCredential = z.output<typeof modelCredential>;
export type OAuthCredential = Extract<ModelCredential, { kind: 'oauth' }>;

export function sealCredential(box: SecretBox, connectionId: string, credential: ModelCredential): string {
  return box.seal(JSON.stringify(credential), place(connectionId));
}

/** @throws when the text was altered, belongs to another connection, or is sealed under an unknown key */
export function openCredential(box: SecretBox, connectionId: string, sealed: string): ModelCredential {
  return modelCredential.parse(JSON.parse(box.open(sealed, place(connectionId))));
}

/** Makes the credential for a call of the runtime: the secret, and the account if a header names it. */
export function callCredential(credential: ModelCredential): {
  readonly value: string;
  readonly account: string | null;
} {
  return credential.kind === 'api_key'
    ? { value: credential.key, account: null }
    : { value: credential.accessToken, account: credential.account };
}

function place(connectionId: string) {
  return { table: 'model_connections', row: connectionId, column: 'credential' };
}

export interface StoredCredential {
  readonly sealed: string | null;
  readonly version: number;
  readonly state: ModelConnectionState;
  readonly provider: ProviderSlot;
  readonly providerIdentity: string;
  readonly expiresAt: Date | null;
  /** True when the credential has expired by the clock of the database. */
  readonly expired: boolean;
  /** True while a process renews the credential. */
  readonly leased: boolean;
  /** True when the refresh token of the credential was sent without a known result: the token is never sent again. */
  readonly spent: boolean;
  /** Seconds for which the credential was issued; null if that is not known. */
  readonly lifeSeconds: number | null;
  /** Refusals to renew the credential so far; null if there was none. */
  readonly refusals: Refusals | null;
}

const columns = sql`
  credential as sealed, credential_version as version, state, provider, provider_identity as "providerIdentity",
  credential_expires_at as "expiresAt", coalesce(credential_expires_at <= now(), false) as expired,
  coalesce(renewal_leased_until > now(), false) as leased,
  coalesce(renewal_sent_version = credential_version, false) as spent, credential_life_seconds as "lifeSeconds",
  ${refusalsOf(sql`credential_version`)} as refusals
`;

function named({ id, projectId }: ModelConnectionRef) {
  return sql`id = ${id} and project_id = ${projectId}`;
}

/** @throws {AppError} `connection_not_found` */
export function readStoredCredential(db: Db, ref: ModelConnectionRef): Promise<StoredCredential> {
  return db.rowOr<StoredCredential>(
    'connection_not_found',
  )`select ${columns} from model_connections where ${named(ref)}`;
}

/**
 * Takes the right to renew this version of the credential for 45 seconds, longer than the provider may take. Also notes
 * that its refresh token is being sent: if the process dies, the token is never sent again.
 * @returns the lease; undefined when another process has it, the token was sent or refused before, or the credential
 * has changed
 */
export async function takeRenewal(
  db: Db,
  ref: ModelConnectionRef,
  { version, refusals }: Pick<StoredCredential, 'refusals' | 'version'>,
): Promise<string | undefined> {
  const lease = randomUUID();
  const touched = await db.run`
    update model_connections set renewal_lease = ${lease}, renewal_sent_version = credential_version,
      renewal_leased_until = now() + interval '45 seconds'
    where ${named(ref)} and credential_version = ${version} and state = 'ready'
      and (renewal_leased_until is null or renewal_leased_until <= now())
      and renewal_sent_version is distinct from credential_version
      and ${hasNoNewRefusal(sql`credential_version`, refusals)}
  `;
  return touched === 1 ? lease : undefined;
}

/**
 * Gives up the renewal.
 * @param end.mayBeSentAgain true when the refresh token was certainly not used
 * @param end.refusals the refusals so far, after a refusal by the server
 */
export async function dropRenewal(
  db: Db,
  ref: ModelConnectionRef,
  lease: string,
  end: {
    readonly mayBeSentAgain: boolean;
    readonly refused: string | undefined;
    readonly refusals: Refusals | null;
  },
): Promise<void> {
  const { mayBeSentAgain, refused, refusals } = end;
  const noted =
    refused === undefined ? sql`renewal_refusals` : oneMoreRefusal(sql`credential_version`, refusals, refused);
  await db.run`
    update model_connections set renewal_lease = null, renewal_leased_until = null, renewal_refusals = ${noted},
      renewal_sent_version = case when ${mayBeSentAgain}::boolean then null else renewal_sent_version end
    where ${named(ref)} and renewal_lease = ${lease}
  `;
}

/** Replaces the named credential by its renewal. @returns false when another credential was stored meanwhile */
export async function replaceCredential(
  db: Db,
  ref: ModelConnectionRef,
  version: number,
  next: { readonly sealed: string; readonly expiresInSeconds: number | undefined },
): Promise<boolean> {
  const touched = await db.run`
    update model_connections set credential = ${next.sealed}, credential_version = credential_version + 1,
      credential_expires_at = now() + make_interval(secs => ${next.expiresInSeconds ?? null}::integer),
      credential_life_seconds = ${next.expiresInSeconds ?? null}::integer,
      renewal_lease = null, renewal_leased_until = null, renewal_sent_version = null, updated_at = now()
    where ${named(ref)} and credential_version = ${version} and state <> 'revoked'
  `;
  return touched === 1;
}
