import fc from 'fast-check';
import { TypeID } from 'typeid-js';
import type { Database } from '#lib/database/index.ts';

/** Generates ids of routines, on which their jitter depends. */
export const routineIds = fc.uuid({ version: 7 }).map((uuid) => TypeID.fromUUID('rtn', uuid).toString());

/** Deletes the rows of earlier cases, because a case that is made smaller keeps its id. */
export async function removeAll(database: Database): Promise<void> {
  await database.run`truncate organizations, usage_totals, usage_days, usage_ledger, usage_reservations cascade`;
}
