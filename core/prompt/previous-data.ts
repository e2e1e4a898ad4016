import { MAX_CARRIED_LENGTH } from '#core/routines/index.ts';
import type { Changes } from '#core/outcomes/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { fence } from './fence.ts';
import { cut } from '#lib/text.ts';

/** Data of the latest run of a routine that has any; a backfill makes up for past times, as for `PreviousRun`. */
export interface PreviousData {
  readonly data: unknown;
  readonly changes: Pick<Changes, 'counts' | 'added' | 'removed' | 'changed' | 'truncated'>;
}

/** Returns an SQL condition that is true when instructions may ask for previous data. */
export function asksForData(instructions: Sql): Sql {
  return sql`${instructions} ~ 'previous[.](data|changes)'`;
}

/** Selects the previous data of a routine as one JSON value, null where there is none. */
export function previousDataJson(run: { projectId: Sql; routineId: Sql }): Sql {
  return sql`(
    select json_build_object('data', p.data, 'changes', p.changes - 'by') from runs p
    where p.project_id = ${run.projectId} and p.routine_id = ${run.routineId} and p.data is not null
      and p.trigger <> 'backfill'
    order by p.compared_at desc limit 1
  )`;
}

/** Fills a placeholder with a value as fenced JSON, cut where it is long; empty when there is none. */
export function jsonText(what: string, value: unknown): string {
  if (value === undefined) return '';
  const json = JSON.stringify(value);
  if (json.length <= MAX_CARRIED_LENGTH) return fence(what, json);
  const note = `\n[cut here: ${json.length} characters in all]`;
  return fence(what, `${cut(json, MAX_CARRIED_LENGTH - note.length)}${note}`);
}
