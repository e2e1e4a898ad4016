import { z } from 'zod';
import type { SecretBox } from '#lib/secrets/index.ts';

/** Credential of an account, sealed to the row of its connection. */
export const modelCredential = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('oauth'),
    accessToken: z.string(),
    refreshToken: z.string().nullable(),
    /** The claim that the provider wants in a header. */
    account: z.string().nullable(),
    /** The client that the tokens were issued to; the operator's own unless the provider issued another. */
    clientId: z.string(),
  }),
  z.strictObject({ kind: z.literal('api_key'), key: z.string() }),
]);
export type ModelCredential = z.output<typeof modelCredential>;
export type OAuthCredential = Extract<ModelCredential, { kind: 'oauth' }>;

export function sealCredential(
  box: SecretBox,
  connectionId: string,
  credential: ModelCredential,
): string {
  return box.seal(JSON.stringify(credential), place(connectionId));
}

/** @throws when the text was altered, belongs to another connection, or is sealed under an unknown key */
export function openCredential(
  box: SecretBox,
  connectionId: string,
  sealed: string,
): ModelCredential {
  return modelCredential.parse(JSON.parse(box.open(sealed, place(connectionId))));
}

/** Makes what a call of the runtime carries: the secret itself, and the account where a header names it. */
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
