import {
  contentDaysOf,
  contentDaysOfAll,
  runDaysOf,
  type RetentionRule,
} from '#core/identity/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { deleteRuns } from './delete-runs.ts';
import { eraseContent } from './erase-content.ts';

/** One of the two stages of retention, erasing and deleting; each has an index of the runs that it is still due for. */
export interface Stage {
  readonly name: 'content' | 'runs';
  /** SQL condition on runs that this stage is next for, in the words of its partial indexes. */
  readonly next: Sql;
  /** Days after its end for which a run of any project is kept from this stage at most. */
  daysOfAll(rule: RetentionRule): number;
  /** The same days for the runs of a project, as an SQL expression on a row of `projects`. */
  daysOf(rule: RetentionRule, project: Sql): Sql;
  /** Applies the stage to runs that the transaction has locked. @returns the number of runs */
  apply(tx: Db, runIds: readonly string[]): Promise<number>;
}

/** The first stage, which erases the content of a run. */
export const CONTENT: Stage = {
  name: 'content',
  next: sql`content_erased_at is null and not pinned`,
  daysOfAll: contentDaysOfAll,
  daysOf: contentDaysOf,
  apply: eraseContent,
};

/** The second stage, which deletes the run; a run that still has content waits for the first stage. */
export const RUNS: Stage = {
  name: 'runs',
  next: sql`content_erased_at is not null and not pinned`,
  daysOfAll: ({ runDays }) => runDays,
  daysOf: runDaysOf,
  apply: deleteRuns,
};
