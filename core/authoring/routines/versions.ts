import { authorJson, type Author } from '#core/foundation/audit/index.ts';
import { enabledToolsJson, type VersionTool } from '#core/integrations/tools/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import type { Page } from '#lib/paging.ts';
import { type Definition, definitionForm, type VersionField } from '#core/authoring/definition/index.ts';

/**
 * Inserts the version of each routine that the same statement writes. The statement's CTE `written` returns whole rows
 * of `routines`. A version never changes, so its differences from the version before are computed once, here.
 */
export function insertVersions(origin: VersionOrigin): Sql {
  return sql`
    insert into routine_versions (routine_id, revision, project_id, definition, tools, changed, created_by,
    restored_from)
    select r.id, r.revision, r.project_id, r.definition, tools.now,
      case when before.revision is null then '{}' else
        ${definitionForm.differencesInSql(sql`before.definition`, sql`r.definition`)}
        || case when tools.now <> before.tools then array['tools'] else '{}' end
      end, ${origin.actor}, ${origin.restoredFrom ?? null}::integer
    from written r
    cross join lateral (select ${enabledToolsJson({ id: sql`r.id`, projectId: sql`r.project_id` })} as now) tools
    left join routine_versions before on before.routine_id = r.id and before.revision = r.revision - 1
  `;
}

/** The most versions of a routine that are kept, because a program can change a routine ten times a second. */
export const KEPT_VERSIONS = 200;

/** Deletes the oldest versions of routines that have got a new version, except versions that open runs need. */
export async function forgetVersions(tx: Db, routineIds: readonly string[]): Promise<void> {
  await tx.run`
    delete from routine_versions v using routines r
    where r.id = any(${routineIds}) and v.routine_id = r.id and v.revision <= r.revision - ${KEPT_VERSIONS}::integer
      and not exists (
        select from runs where runs.routine_id = v.routine_id and runs.routine_revision = v.revision
          and runs.state in ('queued', 'running'))
  `;
}

const summaryColumns = sql`
  revision, created_at as "createdAt", restored_from as "restoredFrom", changed,
  ${authorJson({ createdBy: sql`routine_versions.created_by`, projectId: sql`routine_versions.project_id` })} as
  "createdBy"
`;

/** Lists the versions that a routine has had, the newest first; the page's cursor is a revision. */
export function listVersions(
  db: Db,
  routine: { projectId: string; id: string },
  page: Page,
): Promise<VersionSummary[]> {
  const before = page.after === undefined ? null : Number(page.after);
  return db.rows<VersionSummary>`
    select ${summaryColumns} from routine_versions
    where routine_id = ${routine.id} and project_id = ${routine.projectId} and revision > 0
      and (${before}::integer is null or revision < ${before})
    order by revision desc limit ${page.limit + 1}
  `;
}

/** @throws {AppError} `version_not_found` */
export async function readVersion(
  db: Db,
  routine: { projectId: string; id: string },
  revision: number,
): Promise<Version> {
  const found = await db.rowOr<VersionRow>('version_not_found')`
    select ${summaryColumns}, routine_id as "routineId", definition, tools
    from routine_versions
    where routine_id = ${routine.id} and project_id = ${routine.projectId} and revision = ${revision}
  `;
  const { definition, ...version } = found;
  const { value, blocked } = definitionForm.read(definition);
  return { ...version, ...value, blocked };
}

type VersionRow = Omit<Version, keyof Definition | 'blocked'> & { readonly definition: unknown };

export interface VersionSummary {
  readonly revision: number;
  readonly createdAt: Date;
  /** Author of the version; null when the service made the change. */
  readonly createdBy: Author | null;
  /** The earlier revision that this version restores. */
  readonly restoredFrom: number | null;
  /** Fields that differ from the version before; empty for the first version. */
  readonly changed: readonly VersionField[];
}

/** One revision of a routine: the definition that its runs carry out. */
export interface Version extends VersionSummary, Definition {
  readonly routineId: string;
  /** The tools that were enabled. Restoring the version does not restore its tools: the present confirmations stay. */
  readonly tools: readonly VersionTool[];
  /** Field that this release cannot read; null if it can read all fields. */
  readonly blocked: string | null;
}

/** The author of a version, and the version that it was made from. */
export interface VersionOrigin {
  /** Id of the person, or of the API key; null for the service itself. */
  readonly actor: string | null;
  readonly restoredFrom?: number | undefined;
}
