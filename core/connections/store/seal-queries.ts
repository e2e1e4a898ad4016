import { execute, rows, sql, transaction, type Database } from '#lib/database/index.ts';
import { splitAddress } from './address.ts';
import type { ConnectionSecrets } from './secrets.ts';

const BATCH = 200;

/**
 * Seals the queries of addresses that are stored plainly: rows from before queries were sealed, which no migration can
 * do, as it holds no key. Safe to start any number of times at once; stops between two batches when `signal` aborts.
 * @returns how many were sealed
 */
export async function sealPlainQueries(
  database: Database,
  secrets: ConnectionSecrets,
  signal: AbortSignal,
): Promise<number> {
  let sealed = 0;
  for (;;) {
    signal.throwIfAborted();
    const batch = await transaction(database, async (tx) => {
      const plain = await rows<{ id: string; url: string }>(
        tx,
        sql`
          select id, url from connections where url_query is null and url like '%?%'
          order by id limit ${BATCH} for update skip locked
        `,
      );
      for (const { id, url } of plain) {
        const { shown, query } = splitAddress(url);
        const text = secrets.sealQuery(id, query ?? '');
        await execute(
          tx,
          sql`update connections set url = ${shown}, url_query = ${text} where id = ${id}`,
        );
      }
      return plain.length;
    });
    sealed += batch;
    if (batch < BATCH) return sealed;
  }
}
