import type { Changes } from '#core/authoring/outcomes/index.ts';
import { MAX_CARRIED_LENGTH } from '#core/authoring/definition/index.ts';
import { cutKeepingState } from '#core/authoring/skills/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { ownedBy, sql, type Sql } from '#lib/database/index.ts';
import { carried, fence } from './fence.ts';

/** The latest successful run of a routine. Backfills, which make up for the past, and follow-ups do not count. */
export interface PreviousRun {
  readonly finishedAt: Date;
  /** Null once the result is deleted; a run cannot succeed without one. */
  readonly result: string | null;
}

/** A previous run as JSON, where times are strings. */
export type PreviousRunJson = Omit<PreviousRun, 'finishedAt'> & { readonly finishedAt: string };

/** Selects the previous run of a routine as one JSON value, or null: the first entry of the index of ended runs. */
export function previousRunJson(run: { projectId: Sql; routineId: Sql }): Sql {
  return sql`(
    select json_build_object('finishedAt', p.finished_at, 'result', p.result) from runs p
    where ${ownedBy(sql`p.routine_id`, run.routineId)} and p.project_id = ${run.projectId} and p.state = 'succeeded'
      and p.trigger <> 'backfill' and ${isWork(sql`p.trigger`)}
    order by p.routine_id, p.id desc limit 1
  )`;
}

export function previousRunOf({ finishedAt, result }: PreviousRunJson): PreviousRun {
  return { finishedAt: new Date(finishedAt), result: result === '' ? null : result };
}

/** Data of the latest run of a routine that has any; a backfill makes up for past times, as for `PreviousRun`. */
export interface PreviousData {
  readonly data: unknown;
  readonly changes: Pick<Changes, 'counts' | 'added' | 'removed' | 'changed' | 'truncated'>;
}

export function asksForData(instructions: Sql): Sql {
  return sql`${instructions} ~ 'previous[.](data|changes)'`;
}

export function previousDataJson(run: { projectId: Sql; routineId: Sql }): Sql {
  return sql`(
    select json_build_object('data', p.data, 'changes', p.changes - 'by') from runs p
    where p.project_id = ${run.projectId} and p.routine_id = ${run.routineId} and p.data is not null
      and p.trigger <> 'backfill' and ${isWork(sql`p.trigger`)}
    order by p.compared_at desc limit 1
  )`;
}

/** Length below which a carried result is useless. */
const LEAST_LENGTH = 1_000;

/**
 * Describes the previous result for the run. A skill distinguishes three cases: without a previous result everything is
 * new; with one that cannot be read, or that the routine does not carry, nothing is known to be new.
 * @param room characters left for the text of the run
 * @param inInstructions true when the instructions contain it already, by their placeholder
 */
export function wordsOnPrevious(
  previous: PreviousRun | undefined,
  {
    carryResult,
    inInstructions,
    room,
  }: { readonly carryResult: boolean; readonly inInstructions: boolean; readonly room: number },
): string {
  if (!carryResult && !inInstructions) {
    return 'Previous result: this routine does not carry it over. Whether there is one is not known here; say nothing about changes since then.';
  }
  if (previous === undefined) {
    return 'Previous result: there is none. No earlier run of this routine is on record as succeeded.';
  }
  const at = previous.finishedAt.toISOString();
  if (previous.result === null) {
    return `Previous result: there is one, of ${at}, but it cannot be read: its text is no longer kept.`;
  }
  if (inInstructions) return `Previous result: of ${at}; it stands in the instructions.`;
  if (room < LEAST_LENGTH) {
    return `Previous result: there is one, of ${at}, but it cannot be read: the text of this routine leaves no room for it.`;
  }
  const result = cutKeepingState(previous.result, Math.min(MAX_CARRIED_LENGTH, room));
  return fence(`Previous result: the one of ${at}, the last run that succeeded,`, result);
}

/** Fills `{{previous.result}}`: fenced, and empty when there is nothing to read. */
export function previousText(previous: PreviousRun | undefined): string {
  if (previous?.result == null) return '';
  return fence('The previous result', cutKeepingState(previous.result, MAX_CARRIED_LENGTH));
}

/** Fills a placeholder with a value as fenced JSON, cut if it is long; empty without a value. */
export function jsonText(what: string, value: unknown): string {
  return value === undefined ? '' : fence(what, carried(JSON.stringify(value)));
}
