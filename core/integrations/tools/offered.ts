import { unseenCharacter } from '#core/clients/mcp/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { readableNow, type ProjectTool } from './queries.ts';
import { ownDefinition, ownTools, type OwnToolName, type OwnToolRule } from './own-tools.ts';

/** A tool as the model sees it. A built-in tool has neither policy nor connection. */
export interface CallableTool {
  /** Name, unique in the run: at most 64 letters, digits, `_` and `-`, as providers require. */
  readonly name: string;
  readonly policyId: string | null;
  readonly connectionId: string | null;
  readonly connectionName: string | null;
  readonly toolName: string;
  readonly description: string | null;
}

/** Hints of a server about a tool, by MCP's names without `Hint`. Each may be missing. */
export interface ToolHints {
  readonly readOnly?: unknown;
  readonly destructive?: unknown;
  readonly openWorld?: unknown;
}

/** A tool that a run could use, with its server's hints. */
export interface HintedTool extends CallableTool {
  readonly hints: ToolHints;
}

/** A tool as a run offers it to its model. */
export interface OfferedTool extends CallableTool {
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A selected tool that has no name yet. */
interface Unnamed extends ProjectTool {
  readonly policyId: string;
  readonly clashes: boolean;
}

/** A tool as `offeredToolsJson` selects it; `offeredTools` gives the tool its name. */
export interface OfferedToolJson extends Unnamed {
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool as `callableToolsJson` selects it; `callableTools` gives the tool its name. */
export interface CallableToolJson extends Unnamed {
  readonly hints: ToolHints;
}

/**
 * Selects the tools that a run may use: enabled, and confirmed before the run began, so that nothing during a run
 * extends its rights. Returns one JSON value, for a statement that also reads other data of the run.
 */
export function offeredToolsJson(run: { projectId: Sql; routineId: Sql; startedAt: Sql }): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object(${unnamed}, 'description', p.description,
      'inputSchema', coalesce((${readableNow})->'inputSchema', p.input_schema))
    order by p.id), '[]')
    ${enabled(run)} and p.confirmed_at <= ${run.startedAt}
  )`;
}

/** Selects the tools that a run could use if it began now, without their long fields, as one JSON value. */
export function callableToolsJson(routine: { projectId: Sql; routineId: Sql }): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object(${unnamed}, 'description', left(p.description, 1000),
      'hints', json_build_object('readOnly', p.annotations->'readOnlyHint',
        'destructive', p.annotations->'destructiveHint', 'openWorld', p.annotations->'openWorldHint'))
      order by p.id), '[]') ${enabled(routine)}
  )`;
}

const unnamed = sql`'policyId', p.id, 'connectionId', p.connection_id, 'connectionName', c.name,
      'toolName', p.tool_name, 'clashes', exists (
        select 1 from tool_policies o
        where o.routine_id = p.routine_id and o.id <> p.id and o.state <> 'disabled'
          and left(regexp_replace(o.tool_name, '[^a-zA-Z0-9_-]', '_', 'g'), 64)
            = left(regexp_replace(p.tool_name, '[^a-zA-Z0-9_-]', '_', 'g'), 64)
      )`;

function enabled({ projectId, routineId }: { projectId: Sql; routineId: Sql }): Sql {
  return sql`from tool_policies p join connections c on c.id = p.connection_id
    where p.routine_id = ${routineId} and p.project_id = ${projectId} and p.state <> 'disabled'`;
}

/**
 * Names the tools of a run: first the service's own tools that the run's version has, then the tools of its
 * connections. Discovery refuses a tool with an invisible character in its definition; such a tool of an older policy
 * is left out here.
 */
export function offeredTools(confirmed: readonly OfferedToolJson[], rule: OwnToolRule): OfferedTool[] {
  const found = confirmed.filter(({ toolName: name, ...rest }) => unseenCharacter({ name, ...rest }) === undefined);
  const own = ownTools(rule, found.length);
  return [
    ...own.map((name) => ({ ...ofOwn(name, rule), inputSchema: ownDefinition(name, rule).inputSchema })),
    ...found.map(({ clashes, ...tool }) => ({ ...tool, name: nameFor(tool, clashes, own) })),
  ];
}

export function callableTools(found: readonly CallableToolJson[], rule: OwnToolRule): HintedTool[] {
  const own = ownTools(rule, found.length);
  return [
    ...own.map((name) => ({ ...ofOwn(name, rule), hints: {} })),
    ...found.map(({ clashes, ...tool }) => ({ ...tool, name: nameFor(tool, clashes, own) })),
  ];
}

function ofOwn(name: OwnToolName, rule: OwnToolRule): CallableTool {
  const { description } = ownDefinition(name, rule);
  return { name, policyId: null, connectionId: null, connectionName: null, toolName: name, description };
}

/**
 * Names a tool of a connection. In a clash the service's own tool keeps its name, because skills and briefings use it.
 */
function nameFor(
  tool: { readonly toolName: string; readonly policyId: string },
  clashes: boolean,
  own: readonly string[],
): string {
  const plain = tool.toolName.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  // Add the whole id of the policy: another server could choose a name that ends in a part of the id.
  return clashes || own.includes(plain) ? `${plain.slice(0, 64 - 27)}_${tool.policyId.slice('pol_'.length)}` : plain;
}
