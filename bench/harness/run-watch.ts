import { setTimeout as sleep } from 'node:timers/promises';
import { rows, sql, type Database } from '#lib/database/index.ts';
import type { Service } from './service.ts';

export interface RunWatch {
  /** Resolves once the run has succeeded on record. Rejects when it ended otherwise. */
  succeeded(runId: string): Promise<void>;
  stop(): void;
}

/**
 * Looks up all awaited runs with one small query every few milliseconds: the end of a run is the state that Postgres
 * has, and looking must not cost what is measured.
 */
export function watchRuns(database: Database, everyMs: number): RunWatch {
  const awaited = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const stopping = new AbortController();
  const look = async () => {
    while (!stopping.signal.aborted) {
      await sleep(everyMs);
      if (awaited.size === 0) continue;
      const ended = await rows<{ id: string; state: string }>(
        database,
        sql`
          select id, state from runs
          where id = any(${[...awaited.keys()]}) and state not in ('queued', 'running')
        `,
      );
      for (const { id, state } of ended) {
        const waiter = awaited.get(id);
        awaited.delete(id);
        if (state === 'succeeded') waiter?.resolve();
        else waiter?.reject(new Error(`run ${id} ended ${state}`));
      }
    }
  };
  const looking = look().catch((error: unknown) => {
    for (const { reject } of awaited.values())
      reject(new Error('the watch broke', { cause: error }));
  });
  return {
    succeeded: (runId) =>
      new Promise((resolve, reject) => {
        awaited.set(runId, { resolve, reject });
      }),
    stop() {
      stopping.abort();
      void looking;
    },
  };
}

/** Starts a manual run over HTTP and waits until it has succeeded on record. */
export async function runToSuccess(
  service: Service,
  watch: RunWatch,
  routineId: string,
): Promise<void> {
  const { status, data, body } = await service.client.post(`/v1/routines/${routineId}/run`);
  if (status !== 202) throw new Error(`POST …/run answered ${status}: ${JSON.stringify(body)}`);
  await watch.succeeded(data.id);
}
