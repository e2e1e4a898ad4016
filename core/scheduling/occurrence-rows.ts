import { reasonAsMessage, type OccurrenceRow, type RunReason } from '#core/runs/index.ts';
import { newId } from '#lib/ids.ts';
import type { Decision, PassedOver } from './occurrence.ts';

/** Decision about the occurrence that would run. */
export interface Judgement {
  /** The reason for skipping it instead. */
  readonly reason?: RunReason | undefined;
  readonly detail?: string | undefined;
  readonly afterPrevious?: boolean;
}

/** Returns the rows to insert for a decision. */
export function occurrenceRows(
  routineId: string,
  { run, missed }: Pick<Decision, 'run' | 'missed'>,
  { reason, detail, afterPrevious = false }: Judgement,
): OccurrenceRow[] {
  const row = (scheduledFor: Date) => ({
    id: newId('run'),
    routine_id: routineId,
    scheduled_for: scheduledFor,
  });
  const skipped = (
    { count, from, until }: PassedOver,
    why: RunReason,
    message: string | undefined,
  ): OccurrenceRow => ({
    ...row(from),
    state: 'skipped',
    reason: why,
    error_message: message ?? reasonAsMessage(why),
    skipped_count: count,
    skipped_until: until,
    after_previous: false,
  });
  const found = missed === undefined ? [] : [skipped(missed, 'misfire', undefined)];
  if (run === undefined) return found;
  if (reason !== undefined) {
    return [...found, skipped({ count: 1, from: run, until: run }, reason, detail)];
  }
  const queued: OccurrenceRow = {
    ...row(run),
    state: 'queued',
    reason: null,
    error_message: null,
    skipped_count: null,
    skipped_until: null,
    after_previous: afterPrevious,
  };
  return [...found, queued];
}
