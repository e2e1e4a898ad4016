import type { ToolDefinition } from '#core/clients/mcp/index.ts';
import { storableJson, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { definitionHash } from './policy.ts';

export interface DiscoveryCounts {
  readonly added: number;
  /** Number of tools whose definition the server has changed. */
  readonly changed: number;
  readonly vanished: number;
  readonly unchanged: number;
  /** Names of tools that were enabled and are disabled now. */
  readonly retired: readonly string[];
}

export interface DiscoveryScope {
  readonly projectId: string;
  readonly routineId: string;
  readonly connectionId: string;
}

/**
 * Updates the policies of one routine and connection to the server's tools. New tools are disabled; a confirmed tool
 * that has changed or is gone is disabled again. The caller has locked the routine.
 */
export async function writeDiscovered(
  tx: Db,
  scope: DiscoveryScope,
  { tools, complete }: { tools: readonly ToolDefinition[]; complete: boolean },
): Promise<DiscoveryCounts> {
  const counts = { added: 0, changed: 0, vanished: 0, unchanged: 0 };
  const retired: string[] = [];
  for (const batch of batchesOf(tools)) {
    const written = await writeBatch(tx, scope, batch);
    counts.added += written.added;
    counts.changed += written.changed;
    counts.unchanged += written.unchanged;
    retired.push(...written.retired);
  }
  if (complete) {
    const names = tools.map(({ name }) => name);
    const vanished = await markVanished(tx, scope, names);
    counts.vanished = vanished.length;
    retired.push(...vanished.filter(({ wasEnabled }) => wasEnabled).map(({ name }) => name));
  }
  return { ...counts, retired: retired.toSorted() };
}

/**
 * Size of JSON that is written at once. A server may list megabytes; hashing and writing all of them at once would
 * block the event loop.
 */
const BATCH_LENGTH = 256 * 1024;

/** Yields the tools as lists of JSON. Each list is made on demand. */
function* batchesOf(tools: readonly ToolDefinition[]): Generator<string> {
  let batch: string[] = [];
  let length = 0;
  for (const tool of tools) {
    const json = storableJson({
      id: newId('policy'),
      tool_name: tool.name,
      title: tool.title,
      description: tool.description,
      input_schema: tool.inputSchema,
      output_schema: tool.outputSchema,
      annotations: tool.annotations,
      definition_hash: definitionHash(tool),
    });
    if (batch.length > 0 && length + json.length > BATCH_LENGTH) {
      yield `[${batch.join(',')}]`;
      batch = [];
      length = 0;
    }
    batch.push(json);
    length += json.length;
  }
  if (batch.length > 0) yield `[${batch.join(',')}]`;
}

async function writeBatch(
  tx: Db,
  { projectId, routineId, connectionId }: DiscoveryScope,
  batch: string,
): Promise<Omit<DiscoveryCounts, 'vanished'>> {
  const counts = await tx.row<Omit<DiscoveryCounts, 'vanished'>>`
    with found as (
      select * from jsonb_to_recordset(${batch}::jsonb) as f(
        id text, tool_name text, title text, description text, input_schema jsonb, output_schema jsonb,
        annotations jsonb, definition_hash text)
    ), before as (
      select id, tool_name, state, definition_hash from tool_policies
      where routine_id = ${routineId} and connection_id = ${connectionId}
        and tool_name in (select tool_name from found)
    ), written as (
      insert into tool_policies (id, project_id, routine_id, connection_id, tool_name, title, description,
        input_schema, output_schema, annotations, definition_hash)
      select id, ${projectId}, ${routineId}, ${connectionId}, tool_name, title, description,
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
    )
    select
      (select count(*) from written where id not in (select id from before)) as added,
      (select count(*) from found join before using (tool_name)
        where found.definition_hash <> before.definition_hash) as changed,
      (select count(*) from found join before using (tool_name)
        where found.definition_hash = before.definition_hash) as unchanged,
      array(select tool_name from before where state <> 'disabled'
        and id in (select id from written where state = 'disabled')) as retired
  `;
  return counts ?? { added: 0, changed: 0, unchanged: 0, retired: [] };
}

/** Disables the tools that the server no longer has. */
function markVanished(
  tx: Db,
  { routineId, connectionId }: DiscoveryScope,
  present: readonly string[],
): Promise<{ name: string; wasEnabled: boolean }[]> {
  return tx.rows`
    with gone as (
      select id, state from tool_policies
      where routine_id = ${routineId} and connection_id = ${connectionId} and vanished_at is null
        and tool_name <> all(${present}::text[])
    )
    update tool_policies p set vanished_at = now(), state = 'disabled', updated_at = now()
    from gone where p.id = gone.id
    returning p.tool_name as name, gone.state <> 'disabled' as "wasEnabled"
  `;
}

/** Explains why a routine returned to draft, with the tool names that people know. */
export function draftReason(toolNames: readonly string[]): string {
  const shown = toolNames.slice(0, 3).join(', ');
  const more = toolNames.length > 3 ? ` and ${toolNames.length - 3} more` : '';
  return `the server changed or removed a tool that was automatic (${shown}${more}); look at it and confirm it again`;
}
