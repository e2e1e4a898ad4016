import type { Database } from '#lib/database/index.ts';
import { Gauge, type Registry } from '#lib/metrics/index.ts';

/** Measures the connections of this process's pool. Callers that wait are the first sign that it is too small. */
export function watchPool(registry: Registry, database: Database): void {
  // oxlint-disable-next-line no-new -- a gauge belongs to the registry it puts itself on
  new Gauge({
    name: 'ras_database_pool_connections',
    help: 'Connections of the Postgres pool: total, idle, and callers waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'total' }, database.totalCount);
      this.set({ state: 'idle' }, database.idleCount);
      this.set({ state: 'waiting' }, database.waitingCount);
    },
  });
}
