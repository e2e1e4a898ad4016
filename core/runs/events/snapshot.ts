import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { listSteps, runColumns } from '../queries.ts';
import type { Run, Step } from '../run.ts';

/** A run with the steps that its follower has not seen. */
export interface RunSnapshot {
  readonly run: Run;
  /** Steps in their order, at most `STEPS_AT_ONCE`. */
  readonly steps: readonly Step[];
  /** True when there may be more steps than these. */
  readonly more: boolean;
  /** Changes with the run's state and with the number of its finished steps. */
  readonly version: string;
}

/** Steps in the memory of a follower that reads slowly, however many the run has. */
const STEPS_AT_ONCE = 10;

const version = sql`state || ' ' || (
  select count(*) from steps where run_id = runs.id and steps.state not in ('pending', 'started')
)`;

/** Reads the run before its steps, so that all steps of that state are included. @throws {AppError} `run_not_found` */
export async function readSnapshot(
  db: Db,
  { projectId, id }: { readonly projectId: string; readonly id: string },
  afterIndex: number,
): Promise<RunSnapshot> {
  const found = await row<Run & { version: string }>(
    db,
    sql`select ${runColumns}, ${version} as version from runs where id = ${id} and project_id = ${projectId}`,
  );
  if (found === undefined) throw new AppError('run_not_found');
  const steps = await listSteps(db, projectId, id, afterIndex, STEPS_AT_ONCE);
  const { version: read, ...run } = found;
  return { run, steps, more: steps.length === STEPS_AT_ONCE, version: read };
}

/** Reads the version of each run. */
export function readVersions(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; version: string }[]> {
  return rows(db, sql`select id, ${version} as version from runs where id = any(${ids})`);
}
