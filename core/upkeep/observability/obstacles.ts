import type { Core } from '#core/core.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '#core/foundation/engine/index.ts';
import { createCoalescer, oncePerObject } from '#lib/coalesce.ts';
import { missingMigrations, schemaTooOld, type Db } from '#lib/database/index.ts';

/** A probe gives up after a few seconds, so a Postgres that says nothing counts as away before. */
const PATIENCE_MS = 3_000;

/**
 * Lists what keeps a process from doing its work, in words for an operator; nothing when all that it depends on is
 * there: Postgres, with a schema that is new enough, and Temporal. Everyone may ask, so callers that ask while a look
 * is under way share the next one.
 */
export async function obstacles(
  deps: Pick<Core, 'database'> & { readonly engine: Pick<Engine, 'isHealthy'> },
): Promise<string[]> {
  const { shared } = await coalescerOf(deps.database)('', () => look(deps));
  return shared;
}

const coalescerOf = oncePerObject(() => createCoalescer<string[]>());

async function look(deps: Pick<Core, 'database'> & { readonly engine: Pick<Engine, 'isHealthy'> }): Promise<string[]> {
  const [database, isTemporalThere] = await Promise.all([databaseObstacle(deps.database), deps.engine.isHealthy()]);
  const away = [...(database === AWAY ? ['Postgres'] : []), ...(isTemporalThere ? [] : ['Temporal'])];
  return [
    ...(away.length > 0 ? [`${away.join(' and ')} cannot be reached`] : []),
    ...(database === undefined || database === AWAY ? [] : [database]),
  ];
}

const AWAY = 'away';

async function databaseObstacle(database: Db): Promise<string | undefined> {
  const giveUp = new AbortController();
  const late = sleep(PATIENCE_MS, AWAY, { signal: giveUp.signal });
  const looked = missingMigrations(database).then(
    (missing) => (missing.length === 0 ? undefined : schemaTooOld(missing)),
    () => AWAY,
  );
  try {
    return await Promise.race([looked, late]);
  } finally {
    giveUp.abort();
    late.catch(() => undefined);
  }
}
