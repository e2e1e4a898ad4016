import type { Db } from '#lib/database/index.ts';

/** Pauses routines whose model account is gone. The subject that owns routines implements it. */
export interface AccountRoutines {
  /**
   * Pauses the active routines on these accounts, and skips their scheduled runs that have not begun. `reason` is shown
   * on each routine. The caller holds no row of an account yet.
   * @returns the ids of those that were paused
   */
  pauseOn(
    tx: Db,
    input: {
      readonly projectId: string;
      readonly connectionIds: readonly string[];
      readonly reason: string;
    },
  ): Promise<string[]>;
}
