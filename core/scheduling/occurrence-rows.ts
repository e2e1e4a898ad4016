import type { OccurrenceRow, RunReason } from '#core/runs/index.ts';
import { newId } from '#lib/ids.ts';
import type { Decision, PassedOver } from './occurrence.ts';

/** Returns the rows of a decision; with a `reason`, the occurrence that would run is skipped for it. */
export function occurrenceRows(
  routineId: string,
  { run, missed }: Pick<Decision, 'run' | 'missed'>,
  reason: RunReason | undefined,
  afterPrevious = false,
): OccurrenceRow[] {
  const row = (scheduledFor: Date) => ({
    id: newId('run'),
    routine_id: routineId,
    scheduled_for: scheduledFor,
  });
  const skipped = ({ count, from, until }: PassedOver, why: RunReason): OccurrenceRow => ({
    ...row(from),
    state: 'skipped',
    reason: why,
    skipped_count: count,
    skipped_until: until,
    after_previous: false,
  });
  const found = missed === undefined ? [] : [skipped(missed, 'misfire')];
  if (run === undefined) return found;
  if (reason !== undefined) return [...found, skipped({ count: 1, from: run, until: run }, reason)];
  const queued: OccurrenceRow = {
    ...row(run),
    state: 'queued',
    reason: null,
    skipped_count: null,
    skipped_until: null,
    after_previous: afterPrevious,
  };
  return [...found, queued];
}
