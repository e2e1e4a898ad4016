import { setTimeout as sleep } from 'node:timers/promises';
import {
  ANNOUNCE_EVERY_MS,
  announceSlots,
  withdrawSlots,
  type Admission,
  type WorkerSlots,
} from '#core/execution/admission/index.ts';
import type { Core } from '#core/core.ts';
import type { Standing } from './standing.ts';

interface SlotDeps extends Pick<Core, 'database' | 'log'> {
  readonly admission: Admission;
}

/**
 * Announces the worker's slots until `signal` aborts, then withdraws them, so that a draining worker gets nothing new.
 * Each announcement says whether new runs reach this worker. For some seconds after a change of builds, the slots of
 * the former build still count.
 */
export async function keepAnnounced(
  { database, admission, log }: SlotDeps,
  worker: WorkerSlots,
  standing: Standing,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await announceSlots(database, { ...worker, takesRuns: await standing.refresh() });
      // The nudge also starts waiting runs that another process should have started.
      admission.nudge();
    } catch (err) {
      log.warn({ err }, 'the slots of this worker could not be announced');
    }
    await sleep(ANNOUNCE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  // A row that cannot be deleted expires by itself.
  await withdrawSlots(database, worker.workerId).catch(() => undefined);
  await admission.idle();
}
