import type { z } from 'zod';
import { LRUCache } from 'lru-cache';
import { shownNextRun, nextStarts, type Timing } from '#core/foundation/timetable/index.ts';
import type {
  Routine,
  listRoutines,
  patchRoutine,
  RoutineWarning,
  readRoutineDetail,
} from '#core/authoring/routines/index.ts';
import { now } from '#lib/clock.ts';
import { minuteAtOrBefore, scheduleInWords } from '#lib/schedule/index.ts';
import { present } from '../../http/present.ts';
import type { mailDelivery } from '../settings-schemas.ts';
import { routine, routineDetail, routineSummary, warnings } from './responses.ts';
import { iso } from '../../http/schemas.ts';

type RoutineSummary = Awaited<ReturnType<typeof listRoutines>>[number];

export function presentRoutine(row: Routine) {
  return present(routine, shown(row));
}

export function presentRoutineSummary(row: RoutineSummary) {
  return present(routineSummary, shown(row));
}

function shown<R extends RoutineSummary>(row: R) {
  return {
    ...row,
    scheduleInWords: scheduleInWords(row.schedule),
    nextRunAt: shownNextRun(row),
    stateReason: row.blocked ?? row.stateReason,
  };
}

export function presentSaved(saved: Awaited<ReturnType<typeof patchRoutine>>) {
  const { webhookSecret } = saved;
  return {
    ...presentRoutine(saved.routine),
    warnings: presentWarnings(saved.warnings),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
  };
}

export function presentDetail(
  row: Awaited<ReturnType<typeof readRoutineDetail>>,
  delivery: z.output<typeof mailDelivery>,
) {
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

const COUNT = 5;

// Pages that poll, and routines with the same schedule, share entries of this cache. Without jitter an entry is valid
// for a minute.
const known = new LRUCache<string, readonly string[], Timing>({
  max: 2_000,
  memoMethod: (_key, _stale, { context: timing }) => nextStarts(timing, new Date(now()), COUNT).map(iso),
});

/** Returns the next five times at which scheduled runs of a routine would start. */
export function nextRunsOf(routine: Timing): readonly string[] {
  const { schedule, timezone, startsAt, endsAt, skipDates, jitterSeconds } = routine;
  const time = new Date(now());
  // Only jitter depends on the routine and on seconds, so routines without jitter share an entry.
  const [id, instant] = jitterSeconds === 0 ? ['', minuteAtOrBefore(time)] : [routine.id, iso(time).slice(0, 19)];
  const key = [
    instant,
    timezone,
    schedule,
    startsAt?.getTime(),
    endsAt?.getTime(),
    skipDates.join(),
    jitterSeconds,
    id,
  ];
  return known.memo(key.join(' '), { context: routine });
}
