import type { z } from 'zod';
import {
  shownNextRun,
  type Routine,
  type RoutineDetail,
  type RoutineSummary,
  type RoutineWarning,
  type SavedRoutine,
} from '#core/routines/index.ts';
import { present } from '../../http/present.ts';
import type { mailDelivery } from '../settings-schemas.ts';
import { nextRunsOf } from './next-runs.ts';
import { routine, routineDetail, routineSummary, warnings } from './responses.ts';

export function presentRoutine(row: Routine) {
  return present(routine, shown(row));
}

export function presentRoutineSummary(row: RoutineSummary) {
  return present(routineSummary, shown(row));
}

/** Shows a next time only where the window has one, and a definition that cannot be read as the reason of the state. */
function shown<R extends RoutineSummary>(row: R) {
  return {
    ...row,
    nextRunAt: shownNextRun(row),
    stateReason: row.blocked ?? row.stateReason,
  };
}

export function presentSaved(saved: SavedRoutine) {
  const { webhookSecret } = saved;
  return {
    ...presentRoutine(saved.routine),
    warnings: presentWarnings(saved.warnings),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
  };
}

export function presentDetail(row: RoutineDetail, delivery: z.output<typeof mailDelivery>) {
  return present(routineDetail, {
    ...shown(row),
    nextRuns: nextRunsOf(row),
    mailDelivery: delivery,
    callableTools: row.callableTools,
  });
}

export function presentWarnings(list: readonly RoutineWarning[]) {
  return present(warnings, list);
}

/** Returns the entity tag of a routine's version (RFC 9110, section 8.8.3). */
export function etagOf(row: Routine): { ETag: string } {
  return { ETag: `"${row.version}"` };
}
