import { createHash } from 'node:crypto';
import { TypeID } from 'typeid-js';
import { deleteBatch, sql, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { parseExact } from '#lib/exact-json/parse.ts';
import { ID_PREFIX, newId, type Resource } from '#lib/ids.ts';
import type { SecretBox } from '#lib/secrets/index.ts';

export interface StoredResponse {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

type Claim =
  | { readonly kind: 'replay'; readonly response: StoredResponse }
  | {
      readonly kind: 'first';
      readonly newId: (resource: Resource) => string;
      /** Stores the response for repeated requests. */
      store(response: StoredResponse): Promise<void>;
      /**
       * Releases the key without a response. A refused request changed nothing, so its key is forgotten. After an
       * unknown outcome the next attempt takes over the claim at once, with the same ids.
       */
      release(outcome: 'refused' | 'unknown'): Promise<void>;
    };

/**
 * Claims an `Idempotency-Key` for one request (Stripe's semantics; draft-ietf-httpapi-idempotency-key-header). `scope`
 * is the tenant and the operation. If the process died and left a claim open, another request may take it over after a
 * minute; that request creates its resource under the same id.
 * @throws {AppError} `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function claimIdempotencyKey(
  { database, secrets }: { database: Database; secrets: SecretBox },
  request: { scope: string; key: string; body: Buffer },
): Promise<Claim> {
  const { scope, key } = request;
  const hash = createHash('sha256').update(request.body).digest();
  const seed = newId('run').slice(`${ID_PREFIX.run}_`.length);
  const claimed = await database.row<{ seed: string }>`
    insert into idempotency_keys as i (scope, key, request_hash, seed, locked_until)
    values (${scope}, ${key}, ${hash}, ${seed}, now() + interval '1 minute')
    on conflict (scope, key) do update set locked_until = excluded.locked_until
      where i.status is null and i.locked_until <= now() and i.request_hash = excluded.request_hash
    returning seed
  `;
  const where = sql`where scope = ${scope} and key = ${key}`;
  if (claimed !== undefined) {
    return {
      kind: 'first',
      newId: (resource) => TypeID.fromString(`${ID_PREFIX[resource]}_${claimed.seed}`).toString(),
      async store(response) {
        const sealed = secrets.seal(JSON.stringify(response), place(scope, key));
        await database.run`update idempotency_keys set status = ${response.status}, answer = ${sealed} ${where}`;
      },
      async release(outcome) {
        await database.run`${
          outcome === 'refused'
            ? sql`delete from idempotency_keys ${where} and status is null`
            : sql`update idempotency_keys set locked_until = now() ${where} and status is null`
        }`;
      },
    };
  }
  const found = await database.row<{ requestHash: Buffer; answer: string | null }>`
    select request_hash as "requestHash", answer from idempotency_keys ${where}
  `;
  if (found !== undefined && !found.requestHash.equals(hash)) throw new AppError('idempotency_key_reused');
  if (found?.answer == null) throw new AppError('idempotency_in_progress');
  const response = parseExact(secrets.open(found.answer, place(scope, key)));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `store` above and authenticated on opening
  return { kind: 'replay', response: response as StoredResponse };
}

function place(scope: string, key: string) {
  return { table: 'idempotency_keys', row: JSON.stringify([scope, key]), column: 'answer' };
}

/** Deletes at most `limit` keys that are older than a day (Stripe keeps keys as long); returns how many. */
export function forgetIdempotencyKeys(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'idempotency_keys',
    where: sql`created_at < now() - interval '24 hours'`,
    orderBy: sql`created_at`,
    limit,
  });
}
