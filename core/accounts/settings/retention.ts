import { sql, type Sql } from '#lib/database/index.ts';
import { invalid, type Fault } from '#lib/errors.ts';

/** Days that the operator keeps runs after their end; a project may choose fewer. */
export interface RetentionRule {
  /** Days until the content of a run is erased. */
  readonly contentDays: number;
  /** Days until the run is deleted. */
  readonly runDays: number;
}

/** Present retention of a project's runs, in days. */
export interface Retention {
  readonly runContentDays: number;
  readonly runDays: number;
}

/** A change of a project's days; null for the operator's days, undefined for no change. */
export type RetentionPatch = { readonly [Field in keyof Retention]?: number | null | undefined };

/**
 * Returns an SQL expression: the days for which a project keeps the content of runs. Content is not kept longer than
 * the runs themselves, nor longer than the operator's days, which may have been lowered since.
 * @param project alias of a row of `projects`
 */
export function contentDaysOf(rule: RetentionRule, project: Sql): Sql {
  return sql`least(${project}.run_content_days, ${project}.run_days, ${contentDaysOfAll(rule)}::integer)`;
}

/** Selects the days for which a project keeps the content of runs; null when the operator's setting applies. */
export function chosenContentDays(projectId: Sql): Sql {
  return sql`(select least(p.run_content_days, p.run_days) from projects p where p.id = ${projectId})`;
}

/** Returns an SQL expression: the days for which a project keeps its runs. */
export function runDaysOf({ runDays }: RetentionRule, project: Sql): Sql {
  return sql`least(${project}.run_days, ${runDays}::integer)`;
}

/** Returns the most days for which the content of any run is kept. */
export function contentDaysOfAll({ contentDays, runDays }: RetentionRule): number {
  return Math.min(contentDays, runDays);
}

/** Returns an SQL condition, backed by an index: the project has chosen its own retention. */
export function hasOwnRetention(project: Sql): Sql {
  return sql`(${project}.run_content_days is not null or ${project}.run_days is not null)`;
}

/** @throws {AppError} `invalid_request` when a project chooses more than the operator keeps */
export function assertRetentionWithin(rule: RetentionRule, patch: RetentionPatch): void {
  const faults: Fault[] = [
    { path: 'runContentDays', days: patch.runContentDays, most: contentDaysOfAll(rule) },
    { path: 'runDays', days: patch.runDays, most: rule.runDays },
  ].flatMap(({ path, days, most }) =>
    (days ?? 0) > most ? [{ path, message: `at most ${most}: this service keeps nothing longer` }] : [],
  );
  if (faults.length > 0) throw invalid(faults);
}
