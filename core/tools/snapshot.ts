import { sql, type Sql } from '#lib/database/index.ts';

/** A tool that a version of a routine lets its runs call, as it was confirmed then. */
export interface VersionTool {
  readonly connectionId: string;
  readonly name: string;
  readonly definitionHash: string | null;
  readonly maxCallsPerRun: number | null;
  /** SHA-256 of the argument schema, which may be long; null without one. */
  readonly argumentSchemaHash: string | null;
}

/** Selects the automatic tools of a routine as one JSON value, in the form of `VersionTool`. */
export function automaticToolsJson(routine: { id: Sql; projectId: Sql }): Sql {
  return sql`(
    select coalesce(jsonb_agg(jsonb_build_object('connectionId', p.connection_id, 'name', p.tool_name,
      'definitionHash', p.confirmed_hash, 'maxCallsPerRun', p.max_calls_per_run, 'argumentSchemaHash',
      encode(sha256(convert_to(p.argument_schema::text, 'UTF8')), 'hex')) order by p.connection_id, p.tool_name), '[]')
    from tool_policies p
    where p.routine_id = ${routine.id} and p.project_id = ${routine.projectId} and p.state = 'automatic'
  )`;
}
