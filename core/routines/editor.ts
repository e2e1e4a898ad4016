import type { RoutineEditor } from '#core/connections/index.ts';
import { AppError } from '#lib/errors.ts';
import { recordDeactivation } from './record-changes.ts';
import { lockRoutine, lockUsersOfConnection } from './queries.ts';
import type { QueuedRuns } from './queued-runs.ts';
import { statesBefore } from './states.ts';
import { returnToDraft } from './writes.ts';

/** Lets the subjects below this one make changes that are material for routines. */
export function createRoutineEditor(queuedRuns: QueuedRuns): RoutineEditor {
  return {
    async hold(tx, projectId, routineId) {
      const { state } = await lockRoutine(tx, projectId, routineId);
      if (!statesBefore('draft').includes(state)) throw new AppError('routine_archived');
    },
    holdUsersOf: lockUsersOfConnection,
    async returnToDraft(tx, input) {
      const { by, ...rest } = input;
      const changed = await returnToDraft(tx, { ...rest, actor: by.id });
      const ids = changed.map(({ id }) => id);
      await queuedRuns.skip(tx, ids, 'superseded');
      for (const { id, revision, wasActive } of changed) {
        if (wasActive)
          await recordDeactivation(tx, by, { id, projectId: input.projectId, revision });
      }
      return ids;
    },
  };
}
