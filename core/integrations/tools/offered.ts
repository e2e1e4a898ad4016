import { unseenCharacter } from '#core/clients/mcp/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { readableNow } from './queries.ts';
import { ownDefinition, ownTools, type OwnToolName, type OwnToolRule } from './own-tools.ts';

/** A tool as the model knows it. A built-in one has neither policy nor connection. */
export interface CallableTool {
  /** Unique in the run, of at most 64 letters, digits, `_` and `-`, as providers want it. */
  readonly name: string;
  readonly policyId: string | null;
  readonly connectionId: string | null;
  readonly connectionName: string | null;
  readonly toolName: string;
  readonly description: string | null;
}

/** Claims of a server about a tool, by MCP's names without `Hint`; any of them may be missing. */
export interface ToolHints {
  readonly readOnly?: unknown;
  readonly destructive?: unknown;
  readonly openWorld?: unknown;
}

/** A tool that a run could use, and what its server claims that it does. */
export interface HintedTool extends CallableTool {
  readonly hints: ToolHints;
}

/** A tool as a run offers it to its model. */
export interface OfferedTool extends CallableTool {
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool as the statements select it, to be named. */
interface Unnamed {
  readonly policyId: string;
  readonly connectionId: string;
  readonly connectionName: string;
  readonly toolName: string;
  readonly description: string | null;
  readonly clashes: boolean;
}

/** A tool as `offeredToolsJson` selects it, for `offeredTools` to name. */
export interface OfferedToolJson extends Unnamed {
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool as `callableToolsJson` selects it, for `callableTools` to name. */
export interface CallableToolJson extends Unnamed {
  readonly hints: ToolHints;
}

/**
 * Selects the tools that a run may use: automatic, and confirmed before the run began, so that nothing which happens
 * during a run can give it more. As one JSON value, for a statement that reads other things of the run as well.
 */
export function offeredToolsJson(run: { projectId: Sql; routineId: Sql; startedAt: Sql }): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object(${unnamed}, 'description', p.description,
      'inputSchema', coalesce((${readableNow})->'inputSchema', p.input_schema))
    order by p.id), '[]')
    ${automatic(run)} and p.confirmed_at <= ${run.startedAt}
  )`;
}

/** Selects the tools that a run could use if it began now, without what is long about them. As one JSON value. */
export function callableToolsJson(routine: { projectId: Sql; routineId: Sql }): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object(${unnamed}, 'description', left(p.description, 1000),
      'hints', json_build_object('readOnly', p.annotations->'readOnlyHint',
        'destructive', p.annotations->'destructiveHint', 'openWorld', p.annotations->'openWorldHint'))
      order by p.id), '[]') ${automatic(routine)}
  )`;
}

const unnamed = sql`'policyId', p.id, 'connectionId', p.connection_id, 'connectionName', c.name,
      'toolName', p.tool_name, 'clashes', exists (
        select 1 from tool_policies o
        where o.routine_id = p.routine_id and o.id <> p.id and o.state = 'automatic'
          and left(regexp_replace(o.tool_name, '[^a-zA-Z0-9_-]', '_', 'g'), 64)
            = left(regexp_replace(p.tool_name, '[^a-zA-Z0-9_-]', '_', 'g'), 64)
      )`;

function automatic({ projectId, routineId }: { projectId: Sql; routineId: Sql }): Sql {
  return sql`from tool_policies p join connections c on c.id = p.connection_id
    where p.routine_id = ${routineId} and p.project_id = ${projectId} and p.state = 'automatic'`;
}

/**
 * Names the tools of a run: first the service's own that its version chose, then those of its connections. A tool with
 * an invisible character in its definition is left out; a discovery refuses it now, but once did not.
 */
export function offeredTools(confirmed: readonly OfferedToolJson[], rule: OwnToolRule): OfferedTool[] {
  const found = confirmed.filter(({ toolName: name, ...rest }) => unseenCharacter({ name, ...rest }) === undefined);
  const own = ownTools(rule, found.length);
  return [
    ...own.map((name) => ({
      ...ofOwn(name, rule),
      inputSchema: ownDefinition(name, rule).inputSchema,
    })),
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
  return {
    name,
    policyId: null,
    connectionId: null,
    connectionName: null,
    toolName: name,
    description,
  };
}

/**
 * Returns the server's own name, as far as providers allow it, where the run has no other tool of that name. A tool of
 * the service itself keeps its name, because skills and briefings call it by that.
 */
function nameFor(
  tool: { readonly toolName: string; readonly policyId: string },
  clashes: boolean,
  own: readonly string[],
): string {
  const plain = tool.toolName.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  // The whole id and not a part of it: another server could have chosen a name that ends like this.
  return clashes || own.includes(plain) ? `${plain.slice(0, 64 - 27)}_${tool.policyId.slice('pol_'.length)}` : plain;
}
