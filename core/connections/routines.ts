import type { Actor } from '#core/audit/index.ts';
import type { Db } from '#lib/database/index.ts';

/**
 * Edits routines on behalf of their tools: a change of tools is material. The subject that owns routines implements it.
 */
export interface RoutineEditor {
  /**
   * Holds the routine for the rest of the transaction, so that its policies change one at a time.
   * @throws {AppError} `routine_not_found`, `routine_archived`
   */
  hold(tx: Db, projectId: string, routineId: string): Promise<void>;
  /**
   * Holds the routines that may call a tool of the connection by themselves.
   * @returns their ids
   */
  holdUsersOf(tx: Db, projectId: string, connectionId: string): Promise<string[]>;
  /**
   * Returns routines to draft as new versions with the tools as they are then: they lose their proof run and their next
   * time, and scheduled runs that have not begun are skipped. What takes one off its schedule is on record. `reason` is
   * shown on the routine; null where a person made the change on the routine itself.
   * @returns the ids of those that were changed
   */
  returnToDraft(
    tx: Db,
    input: {
      projectId: string;
      routineIds: readonly string[];
      reason: string | null;
      /** The author of the change; the service itself when it found it. */
      by: Actor;
    },
  ): Promise<string[]>;
}
