import type { AccountRoutines } from '#core/model-connections/index.ts';
import { rows, sql, transaction, type Database } from '#lib/database/index.ts';
import { SLOTS } from '#lib/provider-file/index.ts';

export interface RollbackDeps {
  readonly database: Database;
  readonly providerEnabled: (provider: string) => boolean;
  readonly accountRoutines: AccountRoutines;
}

/** Accounts whose routines are paused in one tick; the next goes on. */
const BATCH = 500;

/** Reason that the routine shows. */
const REASON = 'paused because its model provider is disabled';

/**
 * Pauses the active routines whose model provider is disabled. They stay paused when it is enabled again, until a
 * person activates them.
 * @returns the number of paused routines
 */
export async function pauseOfDisabledProviders(deps: RollbackDeps): Promise<number> {
  const disabled = SLOTS.filter((slot) => !deps.providerEnabled(slot));
  if (disabled.length === 0) return 0;
  const accounts = await rows<{ projectId: string; connectionIds: string[] }>(
    deps.database,
    sql`
      select project_id as "projectId", array_agg(distinct model_connection_id) as "connectionIds" from (
        select project_id, model_connection_id from routines
        where state = 'active' and model_provider <> 'gateway' and model_provider = any(${disabled})
          and model_connection_id is not null
        limit ${BATCH}
      ) affected group by project_id
    `,
  );
  let paused = 0;
  for (const account of accounts) {
    const ids = await transaction(deps.database, (tx) =>
      deps.accountRoutines.pauseOn(tx, { ...account, reason: REASON }),
    );
    paused += ids.length;
  }
  return paused;
}
