import type { Core } from '#core/core.ts';
import { nextTimeFrom, type Timing } from '#core/foundation/timetable/index.ts';
import { pauseRoutinesOn, setNextTimes } from '#core/authoring/routines/index.ts';
import { transaction, type Database } from '#lib/database/index.ts';
import { SLOTS } from '#lib/provider-file/index.ts';
import { pauseWithNews, type PauseDeps } from './claim.ts';

interface Unscheduled extends Timing {
  readonly now: Date;
}

/** Gives a next time to active routines that have none. Such routines should not exist, and would never run. */
export function reconcileNextTimes(deps: PauseDeps & { readonly database: Database }): Promise<number> {
  return transaction(deps.database, async (tx) => {
    const lost = await tx.rows<Unscheduled>`
      select id, schedule, timezone, starts_at as "startsAt", ends_at as "endsAt", skip_dates as "skipDates",
        jitter_seconds as "jitterSeconds", now() as now
      from routines
      where state = 'active' and next_run_at is null limit 500
      for no key update skip locked
    `;
    if (lost.length === 0) return 0;
    const found = lost.map((routine) => ({ id: routine.id, next: tryNext(routine) }));
    const readable = found.flatMap(({ id, next }) => (next === undefined ? [] : [{ id, next }]));
    const unreadable = found.filter(({ next }) => next === undefined);
    await pauseWithNews(deps, tx, { unreadable: new Map(unreadable.map(({ id }) => [id, null])), ended: [] });
    return setNextTimes(tx, readable);
  });
}

function tryNext(routine: Unscheduled): Date | undefined {
  try {
    return nextTimeFrom(routine, routine.now);
  } catch {
    return undefined;
  }
}

/** The most routines in which one tick looks for such accounts; the next tick continues. */
const BATCH = 500;

/** Reason that the routine shows. */
const REASON = 'paused because its model provider is disabled';

/** Pauses the active routines whose model provider is disabled. Only a person activates them again. */
export async function pauseOfDisabledProviders(
  deps: Pick<Core, 'database' | 'emit' | 'providerEnabled'>,
): Promise<number> {
  const disabled = SLOTS.filter((slot) => !deps.providerEnabled(slot));
  if (disabled.length === 0) return 0;
  const accounts = await deps.database.rows<{ projectId: string; connectionIds: string[] }>`
    select project_id as "projectId", array_agg(distinct model_connection_id) as "connectionIds" from (
      select project_id, model_connection_id from routines
      where state = 'active' and model_provider <> 'gateway' and model_provider = any(${disabled})
        and model_connection_id is not null
      limit ${BATCH}
    ) affected group by project_id
  `;
  let paused = 0;
  for (const account of accounts) {
    const ids = await transaction(deps.database, (tx) => pauseRoutinesOn(deps, tx, { ...account, reason: REASON }));
    paused += ids.length;
  }
  return paused;
}
