import type { Core } from '#core/core.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '#core/foundation/engine/index.ts';
import { createCoalescer, oncePerObject } from '#lib/coalesce.ts';
import { missingMigrations, schemaTooOld, type Db } from '#lib/database/index.ts';

/** A Postgres that is silent for this long counts as away. A probe waits a little longer. */
const PATIENCE_MS = 3_000;

/** Obstacles that keep a process from its work, in words for an operator; undefined if there is none. */
export interface Obstacles {
  /** Postgres is away, or its schema is too old. */
  readonly database: string | undefined;
  /** Temporal is away: reads continue, and runs are accepted and wait. */
  readonly temporal: string | undefined;
}

/** Looks for obstacles. Callers that ask during a look share the next look. */
export async function obstacles(
  deps: Pick<Core, 'database'> & { readonly engine: Pick<Engine, 'isHealthy'> },
): Promise<Obstacles> {
  const { shared } = await coalescerOf(deps.database)('', async () => {
    const [database, isTemporalThere] = await Promise.all([databaseObstacle(deps.database), deps.engine.isHealthy()]);
    return { database, temporal: isTemporalThere ? undefined : 'Temporal cannot be reached' };
  });
  return shared;
}

const coalescerOf = oncePerObject(() => createCoalescer<Obstacles>());

const AWAY = 'Postgres cannot be reached';

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
