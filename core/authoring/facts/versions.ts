import { authorJson, type Author } from '#core/foundation/audit/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import type { LineChanges } from '#lib/line-changes.ts';
import type { Page } from '#lib/paging.ts';

/** A version of a project's facts in lists, without its text. */
export interface FactsVersionSummary {
  readonly version: number;
  /** Length in Unicode code points, as the limit counts it. */
  readonly length: number;
  /** Lines that differ from the version before. All lines of the first version count as added. */
  readonly changes: LineChanges;
  readonly createdBy: Author | null;
  readonly createdAt: Date;
}

export interface FactsVersion extends FactsVersionSummary {
  readonly text: string;
  /** Text of the version before; null for the first version, and when that text is no longer kept. */
  readonly before: string | null;
}

const summaryColumns = sql`f.version, f.changes, f.created_at as "createdAt",
  length(f.text) as length,
  ${authorJson({ createdBy: sql`f.created_by`, projectId: sql`f.project_id` })} as "createdBy"`;

/** Lists the versions of a project's facts, the newest first; the page's cursor is a version. */
export function listFactsVersions(db: Db, projectId: string, page: Page): Promise<FactsVersionSummary[]> {
  const before = page.after === undefined ? null : Number(page.after);
  return db.rows<FactsVersionSummary>`
    select ${summaryColumns} from project_facts f
    where f.project_id = ${projectId} and (${before}::integer is null or f.version < ${before})
    order by f.version desc limit ${page.limit + 1}
  `;
}

/** Reads a version with the text of the version before. @throws {AppError} `facts_version_not_found` */
export function readFactsVersion(db: Db, projectId: string, version: number): Promise<FactsVersion> {
  return db.rowOr<FactsVersion>('facts_version_not_found')`
    select ${summaryColumns}, f.text, p.text as before
    from project_facts f
    left join project_facts p on p.project_id = f.project_id and p.version = f.version - 1
    where f.project_id = ${projectId} and f.version = ${version}
  `;
}

export type ToldFacts = Pick<FactsVersion, 'version' | 'text'>;

/**
 * Selects the facts for a run as one JSON value, or null. A run that a person starts gets the newest facts, every other
 * run the facts of its routine's proof.
 */
export function toldFactsJson(run: { projectId: Sql; trigger: Sql; activeFacts: Sql }): Sql {
  return sql`(
    select json_build_object('version', f.version, 'text', f.text) from project_facts f
    where f.project_id = ${run.projectId} and (${run.trigger} in ('manual', 'rehearsal') or f.version = ${run.activeFacts})
    order by f.version desc limit 1
  )`;
}

/** Deletes at most `limit` versions of facts of deleted projects, and returns their number. */
export function forgetFactsOf(db: Db, projectIds: readonly string[], limit: number): Promise<number> {
  return db.run`
    with own as (
      select project_id, version from project_facts where project_id = any(${projectIds}) limit ${limit}
    )
    delete from project_facts t using own
    where t.project_id = own.project_id and t.version = own.version
  `;
}
