import { join, raw, sql, transaction, type Database } from '#lib/database/index.ts';
import type { SecretBox, SecretPlace } from './secret-box.ts';

export interface RotatedColumn {
  readonly table: string;
  readonly column: string;
  /** Number of texts that were sealed again. */
  readonly rotated: number;
  /** Number of texts that neither key opens. These texts stay unchanged. */
  readonly unreadable: number;
}

/**
 * Seals every stored text again that is not under the current key, in short transactions while the service runs.
 * Finished batches stay, so an interrupted rotation can simply be started again.
 * @param options.batchSize number of rows in one transaction
 */
export async function rotateSecrets(
  database: Database,
  secrets: SecretBox,
  { batchSize = 200 }: { readonly batchSize?: number } = {},
): Promise<RotatedColumn[]> {
  const report: RotatedColumn[] = [];
  for (const column of SEALED_COLUMNS) {
    let rotated = 0;
    let unreadable = 0;
    let after: Keys | undefined;
    do {
      const batch = await rotateBatch(database, secrets, column, { after, batchSize });
      rotated += batch.rotated;
      unreadable += batch.unreadable;
      after = batch.last;
    } while (after !== undefined);
    report.push({ table: column.table, column: column.column, rotated, unreadable });
  }
  return report;
}

type Keys = readonly (string | Buffer)[];

function rotateBatch(
  database: Database,
  secrets: SecretBox,
  where: SealedColumn,
  { after, batchSize }: { after: Keys | undefined; batchSize: number },
): Promise<{ rotated: number; unreadable: number; last: Keys | undefined }> {
  // Names come from the list above, never from a caller.
  const table = raw(where.table);
  const column = raw(where.column);
  const key = sql`(${raw(where.keys.join(', '))})`;
  return transaction(database, async (tx) => {
    const batch = await tx.rows<Record<string, string | Buffer> & { sealed: string }>`
      select ${raw(where.keys.map((name) => `"${name}"`).join(', '))}, ${column} as sealed from ${table}
      where ${column} <> '' and not starts_with(${column}, ${secrets.currentPrefix})
        ${after === undefined ? sql`` : sql`and ${key} > (${join([...after])})`}
      order by ${raw(where.keys.join(', '))} limit ${batchSize} for update
    `;
    let rotated = 0;
    let last: Keys | undefined;
    for (const row of batch) {
      last = where.keys.map((name) => row[name] ?? '');
      const resealed = reseal(secrets, placeOf(where, last), row.sealed);
      if (resealed === undefined) continue;
      rotated += await tx.run`update ${table} set ${column} = ${resealed} where ${key} = (${join([...last])})`;
    }
    return { rotated, unreadable: batch.length - rotated, last };
  });
}

function reseal(secrets: SecretBox, place: SecretPlace, sealed: string): string | undefined {
  try {
    return secrets.seal(secrets.open(sealed, place), place);
  } catch {
    return undefined;
  }
}

/** Returns the place for which a text of this row was sealed. */
export function placeOf({ table, rowOf, sealedAs, column }: SealedColumn, keys: Keys): SecretPlace {
  return { table, row: rowOf(keys), column: sealedAs ?? column };
}

/** A column with sealed texts. Each text is sealed for one place, which depends on its row. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Columns of the primary key. */
  readonly keys: readonly string[];
  /** Returns the `row` of a text's place. */
  readonly rowOf: (keys: Keys) => string;
  /** The column whose name the place has, if the value was sealed for that column and then moved. Default: `column`. */
  readonly sealedAs?: string;
}

/** Every column with sealed texts. A key may be removed only when all of them were sealed again. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'routines', column: 'webhook_secret', keys: ['id'], rowOf: only },
  { table: 'routines', column: 'webhook_secret_previous', keys: ['id'], rowOf: only, sealedAs: 'webhook_secret' },
  { table: 'connections', column: 'credentials', keys: ['id'], rowOf: only },
  { table: 'connections', column: 'url_query', keys: ['id'], rowOf: only },
  { table: 'model_connections', column: 'credential', keys: ['id'], rowOf: only },
  { table: 'model_sign_ins', column: 'sealed', keys: ['id'], rowOf: only },
  { table: 'model_revocations', column: 'sealed', keys: ['connection_id'], rowOf: only },
  { table: 'outbox', column: 'sealed', keys: ['id'], rowOf: only },
  { table: 'chats', column: 'sealed_url', keys: ['id'], rowOf: only },
  { table: 'encryption_check', column: 'sealed', keys: ['id'], rowOf: only },
  { table: 'second_factors', column: 'secret', keys: ['user_id'], rowOf: only },
  { table: 'oauth_flows', column: 'sealed', keys: ['state_hash'], rowOf: hexadecimal },
  { table: 'idempotency_keys', column: 'answer', keys: ['scope', 'key'], rowOf: (keys) => JSON.stringify(keys) },
];

function only([key = '']: Keys): string {
  return key.toString();
}

function hexadecimal([key = '']: Keys): string {
  return Buffer.from(key).toString('hex');
}
