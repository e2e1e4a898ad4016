import { contentDaysOf, contentDaysOfAll, runDaysOf, type RetentionRule } from '#core/accounts/settings/index.ts';
import { eraseMessages, deleteMessages } from '#core/foundation/outbox/index.ts';
import { eraseBodies, deleteDeliveries } from '#core/delivery/webhooks/index.ts';
import { deleteChatDeliveries, eraseChatResponses } from '#core/delivery/chats/index.ts';
import { forgetSharedLinks } from '#core/execution/shared-links/index.ts';
import { deleteQuestions, eraseQuestions } from '#core/execution/questions/index.ts';
import { keepProofs } from '#core/authoring/routines/index.ts';
import { deleteActions, eraseActions } from '#core/execution/actions/index.ts';
import { keeping } from '#core/execution/runs/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';

/** One of the two stages of retention, erasing and deleting. Each has an index of the runs that still need it. */
export interface Stage {
  readonly name: 'content' | 'runs';
  /** SQL condition on runs for which this stage is next, worded like its partial indexes. */
  readonly next: Sql;
  /** The most days that may pass between the end of a run and this stage, over all projects. */
  daysOfAll(rule: RetentionRule): number;
  /** The days between the end of a run and this stage in one project, as an SQL expression on a row of `projects`. */
  daysOf(rule: RetentionRule, project: Sql): Sql;
  /** Applies the stage to runs that the transaction has locked. @returns the number of runs */
  apply(tx: Db, runIds: readonly string[]): Promise<number>;
}

/** The first stage, which erases everything that people, models and tools have written into a run. */
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

/**
 * Erases the texts of runs. States, reasons, times, usage and names of tools stay. A run with an open delivery is left
 * for later.
 */
async function eraseContent(tx: Db, runIds: readonly string[]): Promise<number> {
  const sending = new Set(await eraseBodies(tx, runIds));
  const ids = runIds.filter((id) => !sending.has(id));
  await eraseMessages(tx, ids);
  await eraseChatResponses(tx, ids);
  await eraseActions(tx, ids);
  await eraseQuestions(tx, ids);
  return keeping.eraseTexts(tx, ids);
}

/** Deletes runs. Their usage stays in the ledger and the totals, and versions that the runs proved stay proven. */
async function deleteRuns(tx: Db, runIds: readonly string[]): Promise<number> {
  await keepProofs(tx, runIds);
  await deleteDeliveries(tx, runIds);
  await deleteMessages(tx, runIds);
  await deleteChatDeliveries(tx, runIds);
  await forgetSharedLinks(tx, runIds);
  await deleteActions(tx, runIds);
  await deleteQuestions(tx, runIds);
  return keeping.deleteRows(tx, runIds);
}
