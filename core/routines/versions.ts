import { automaticToolsJson } from '#core/tools/index.ts';
import { execute, row, rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Page } from '#lib/paging.ts';
import type { Version, VersionOrigin, VersionSummary } from './version.ts';

/**
 * Inserts the version of each routine that the same statement writes: its common table expression `written` returns
 * whole rows of `routines`. A version never changes afterwards, so what differs from the one before is found out once.
 */
export function insertVersions(origin: VersionOrigin): Sql {
  return sql`
    insert into routine_versions (routine_id, revision, project_id, instructions, variables, overridable, model_provider,
      model_connection_id, model_id, skills, max_steps, timeout_seconds, max_total_tokens, max_output_tokens,
      max_queue_seconds, abnormal_factor, carry_result, built_in_tools, outcome, checks, gate, result_schema, result_key, tools, changed, created_by, restored_from)
    select r.id, r.revision, r.project_id, r.instructions, r.variables, r.overridable, r.model_provider, r.model_connection_id,
      r.model_id, r.skills, r.max_steps, r.timeout_seconds, r.max_total_tokens, r.max_output_tokens,
      r.max_queue_seconds, r.abnormal_factor, r.carry_result, r.built_in_tools, r.outcome, r.checks, r.gate, r.result_schema, r.result_key, tools.now,
      array_remove(array[
        case when r.instructions <> before.instructions then 'instructions' end,
        case when r.variables <> before.variables then 'variables' end,
        case when r.overridable is distinct from before.overridable
          and before.revision is not null then 'overridable' end,
        case when (r.model_provider, r.model_connection_id, r.model_id)
          is distinct from (before.model_provider, before.model_connection_id, before.model_id)
          and before.revision is not null then 'model' end,
        case when r.skills <> before.skills then 'skills' end,
        case when (r.max_steps, r.timeout_seconds, r.max_total_tokens, r.max_output_tokens, r.max_queue_seconds,
            r.abnormal_factor)
          is distinct from
            (before.max_steps, before.timeout_seconds, before.max_total_tokens, before.max_output_tokens,
              before.max_queue_seconds, before.abnormal_factor)
          and before.revision is not null then 'limits' end,
        case when r.carry_result <> before.carry_result then 'carryResult' end,
        case when r.built_in_tools <> before.built_in_tools then 'builtInTools' end,
        case when r.outcome <> before.outcome then 'outcome' end,
        case when r.checks <> before.checks then 'checks' end,
        case when r.gate is distinct from before.gate and before.revision is not null then 'gate' end,
        case when r.result_schema::jsonb is distinct from before.result_schema::jsonb
          and before.revision is not null then 'resultSchema' end,
        case when r.result_key is distinct from before.result_key
          and before.revision is not null then 'resultKey' end,
        case when tools.now <> before.tools then 'tools' end
      ], null), ${origin.actor}, ${origin.restoredFrom ?? null}::integer
    from written r
    cross join lateral (select ${automaticToolsJson({ id: sql`r.id`, projectId: sql`r.project_id` })} as now) tools
    left join routine_versions before on before.routine_id = r.id and before.revision = r.revision - 1
  `;
}

/** The versions of a routine that are kept: it can be changed ten times a second. */
export const KEPT_VERSIONS = 200;

/** Deletes the oldest versions of routines that have just got a new one, except those that open runs were made with. */
export async function forgetVersions(tx: Db, routineIds: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`
      delete from routine_versions v using routines r
      where r.id = any(${routineIds}) and v.routine_id = r.id and v.revision <= r.revision - ${KEPT_VERSIONS}::integer
        and not exists (
          select from runs where runs.routine_id = v.routine_id and runs.routine_revision = v.revision
            and runs.state in ('queued', 'running'))
    `,
  );
}

const summaryColumns = sql`
  revision, created_at as "createdAt", restored_from as "restoredFrom", changed,
  case when starts_with(created_by, 'key_') then jsonb_build_object('kind', 'key', 'id', created_by, 'name',
      (select k.name from api_keys k where k.id = routine_versions.created_by and k.project_id = routine_versions.project_id))
    when created_by is not null then jsonb_build_object('kind', 'person', 'id', created_by, 'name',
      (select u.name from users u where u.id = routine_versions.created_by))
  end as "createdBy"
`;

/** Lists the versions of a routine, the newest first; the page's cursor is a revision. */
export function listVersions(
  db: Db,
  routine: { projectId: string; id: string },
  page: Page,
): Promise<VersionSummary[]> {
  const before = page.after === undefined ? null : Number(page.after);
  return rows<VersionSummary>(
    db,
    sql`
      select ${summaryColumns} from routine_versions
      where routine_id = ${routine.id} and project_id = ${routine.projectId}
        and (${before}::integer is null or revision < ${before})
      order by revision desc limit ${page.limit + 1}
    `,
  );
}

/** @throws {AppError} `version_not_found` */
export async function readVersion(
  db: Db,
  routine: { projectId: string; id: string },
  revision: number,
): Promise<Version> {
  const found = await row<Version>(
    db,
    sql`
      select ${summaryColumns}, routine_id as "routineId", instructions, variables, overridable, skills, tools,
        carry_result as "carryResult", built_in_tools as "builtInTools", outcome, checks, gate,
        result_schema as "resultSchema", result_key as "resultKey",
        jsonb_build_object('provider', model_provider, 'connectionId', model_connection_id, 'modelId', model_id)
          as model,
        jsonb_build_object('maxSteps', max_steps, 'timeoutSeconds', timeout_seconds,
          'maxTotalTokens', max_total_tokens, 'maxOutputTokens', max_output_tokens,
          'maxQueueSeconds', max_queue_seconds, 'abnormalFactor', abnormal_factor) as limits
      from routine_versions
      where routine_id = ${routine.id} and project_id = ${routine.projectId} and revision = ${revision}
    `,
  );
  if (found === undefined) throw new AppError('version_not_found');
  return found;
}
