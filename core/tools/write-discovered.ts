import type { ToolDefinition } from '#core/mcp/index.ts';
import { row, sql, storableJson, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { definitionHash } from './definition-hash.ts';

export interface DiscoveryCounts {
  readonly added: number;
  /** Their definition differs from what the server said before. */
  readonly changed: number;
  readonly vanished: number;
  readonly unchanged: number;
  /** Names of the tools that were automatic and are disabled now. */
  readonly retired: readonly string[];
}

/**
 * Brings the policies of one routine and connection in line with what the server says now, in one statement however
 * many there are. New ones are disabled; one that was confirmed with another definition, or that is gone, is disabled
 * again. The caller holds the routine.
 */
export async function writeDiscovered(
  tx: Db,
  scope: { projectId: string; routineId: string; connectionId: string },
  input: { tools: readonly ToolDefinition[]; complete: boolean },
): Promise<DiscoveryCounts> {
  const found = input.tools.map((tool) => ({
    id: newId('policy'),
    tool_name: tool.name,
    title: tool.title,
    description: tool.description,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema,
    annotations: tool.annotations,
    definition_hash: definitionHash(tool),
  }));
  const counts = await row<DiscoveryCounts>(
    tx,
    sql`
      with found as (
        select * from jsonb_to_recordset(${storableJson(found)}::jsonb) as f(
          id text, tool_name text, title text, description text, input_schema jsonb, output_schema jsonb,
          annotations jsonb, definition_hash text)
      ), before as (
        select * from tool_policies
        where routine_id = ${scope.routineId} and connection_id = ${scope.connectionId}
      ), written as (
        insert into tool_policies (id, project_id, routine_id, connection_id, tool_name, title, description,
          input_schema, output_schema, annotations, definition_hash)
        select id, ${scope.projectId}, ${scope.routineId}, ${scope.connectionId}, tool_name, title, description,
          input_schema, nullif(output_schema, 'null'), nullif(annotations, 'null'), definition_hash
        from found
        on conflict (routine_id, connection_id, tool_name) do update set
          title = excluded.title, description = excluded.description, input_schema = excluded.input_schema,
          output_schema = excluded.output_schema, annotations = excluded.annotations,
          definition_hash = excluded.definition_hash,
          state = case when tool_policies.confirmed_hash = excluded.definition_hash
            then tool_policies.state else 'disabled' end,
          vanished_at = null, updated_at = now()
        where tool_policies.definition_hash <> excluded.definition_hash or tool_policies.vanished_at is not null
        returning id, state
      ), gone as (
        update tool_policies p set vanished_at = now(), state = 'disabled', updated_at = now()
        where routine_id = ${scope.routineId} and connection_id = ${scope.connectionId}
          and vanished_at is null and ${input.complete}::boolean
          and not exists (select 1 from found where found.tool_name = p.tool_name)
        returning id
      )
      select
        (select count(*) from written where id not in (select id from before)) as added,
        (select count(*) from found join before using (tool_name)
          where found.definition_hash <> before.definition_hash) as changed,
        (select count(*) from gone) as vanished,
        (select count(*) from found join before using (tool_name)
          where found.definition_hash = before.definition_hash) as unchanged,
        array(select tool_name from before where state = 'automatic' and (id in (select id from gone)
          or id in (select id from written where state = 'disabled')) order by tool_name) as retired
    `,
  );
  return counts ?? { added: 0, changed: 0, vanished: 0, unchanged: 0, retired: [] };
}
