import {
  contentDaysOf,
  contentDaysOfAll,
  runDaysOf,
  type RetentionRule,
} from '#core/identity/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { deleteRuns } from './delete-runs.ts';
import { eraseContent } from './erase-content.ts';

/** One of the two things that happen to a run after its end; each has an index of the runs that it is still to happen to. */
export interface Stage {
  readonly name: 'content' | 'runs';
  /** The condition of a run that comes to this stage next, in the words of its partial indexes. */
  readonly next: Sql;
  /** The days after its end for which a run of any project is kept from it at most. */
  daysOfAll(rule: RetentionRule): number;
  /** The same for the runs of a project, as an SQL expression over a row of `projects`. */
  daysOf(rule: RetentionRule, project: Sql): Sql;
  /** Carries it out for runs that the transaction has locked; returns for how many. */
  apply(tx: Db, runIds: readonly string[]): Promise<number>;
}

/** First the content of a run is erased. */
export const CONTENT: Stage = {
  name: 'content',
  next: sql`content_erased_at is null and not pinned`,
  daysOfAll: contentDaysOfAll,
  daysOf: contentDaysOf,
  apply: eraseContent,
};

/** Later the run is deleted; one that still has its content waits for the first stage. */
export const RUNS: Stage = {
  name: 'runs',
  next: sql`content_erased_at is not null and not pinned`,
  daysOfAll: ({ runDays }) => runDays,
  daysOf: runDaysOf,
  apply: deleteRuns,
};
