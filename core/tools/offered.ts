import { sql, type Sql } from '#lib/database/index.ts';

/** A tool as a run offers it to its model. */
export interface OfferedTool {
  /** Unique in the run, of at most 64 letters, digits, `_` and `-`, as providers want it. */
  readonly name: string;
  readonly policyId: string;
  readonly connectionId: string;
  readonly connectionName: string;
  readonly toolName: string;
  readonly description: string | null;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool as `offeredToolsJson` selects it, for `offeredTools` to name. */
export type OfferedToolJson = Omit<OfferedTool, 'name'> & { readonly clashes: boolean };

/**
 * The tools that a run may use: automatic, and confirmed before the run began, so that nothing which happens during a
 * run can give it more. As one JSON value, for a statement that reads other things of the run as well.
 */
export function offeredToolsJson(run: { projectId: Sql; routineId: Sql; startedAt: Sql }): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object(
      'policyId', p.id, 'connectionId', p.connection_id, 'connectionName', c.name, 'toolName', p.tool_name,
      'description', p.description, 'inputSchema', p.input_schema, 'clashes', exists (
        select 1 from tool_policies o
        where o.routine_id = p.routine_id and o.id <> p.id and o.state = 'automatic'
          and left(regexp_replace(o.tool_name, '[^a-zA-Z0-9_-]', '_', 'g'), 64)
            = left(regexp_replace(p.tool_name, '[^a-zA-Z0-9_-]', '_', 'g'), 64)
      )) order by p.id), '[]')
    from tool_policies p join connections c on c.id = p.connection_id
    where p.routine_id = ${run.routineId} and p.project_id = ${run.projectId} and p.state = 'automatic'
      and p.confirmed_at <= ${run.startedAt}
  )`;
}

export function offeredTools(found: readonly OfferedToolJson[]): OfferedTool[] {
  return found.map(({ clashes, ...tool }) => ({ ...tool, name: nameFor(tool, clashes) }));
}

/** The server's own name, as far as providers allow it, where the run has no other tool of that name. */
function nameFor(tool: Omit<OfferedTool, 'name'>, clashes: boolean): string {
  const plain = tool.toolName.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  // The whole id and not a part of it: another server could have chosen a name that ends like this.
  return clashes
    ? `${plain.slice(0, 64 - 27)}_${tool.policyId.slice('pol_'.length)}`
    : plain.slice(0, 64);
}
