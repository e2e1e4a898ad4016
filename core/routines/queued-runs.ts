import type { Db } from '#lib/database/index.ts';

/** The reason why a queued run is no longer wanted: its routine was paused, changed or archived. */
export type UnwantedReason = 'paused' | 'superseded' | 'archived';

/** Ends runs that wait while their routine changes. The subject that owns runs implements it. */
export interface QueuedRuns {
  /**
   * Skips the scheduled runs of the routines that have not begun, and those that people started too when the routine
   * is archived, in the transaction that changes the routines.
   */
  skip(tx: Db, routineIds: readonly string[], reason: UnwantedReason): Promise<void>;
}
