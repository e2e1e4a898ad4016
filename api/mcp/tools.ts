import { z } from 'zod';
import { AppError } from '#lib/errors.ts';
import type { Scope } from '../access.ts';
import { type JsonRoute, type Route, type RouteSpec, type Tool, TOOLSETS, type Toolset } from '../route.ts';
import { routes } from '../routes.ts';
import { gist, inputSchemaOf, type JsonSchema } from './input-schema.ts';
import { argumentWords, TOOL_WORDS } from './words.ts';

/** A tool in the form of `tools/list` (MCP, revision 2026-07-28). */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: 'object' };
  /** Schema of the structured content, for the tools in `WITH_OUTPUT`. */
  readonly outputSchema?: JsonSchema & { readonly type: 'object' };
  /** Hints that differ from a client's defaults. The second and third are for tools that change something. */
  readonly annotations: {
    readonly readOnlyHint?: true;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: true;
    readonly openWorldHint: false;
  };
}

/** An operation for assistants, with the place of each argument. */
export interface RouteTool {
  readonly route: JsonRoute;
  readonly tool: Tool;
  readonly definition: ToolDefinition;
  readonly params: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
}

/** Clients end a call after 60 s, so a tool must return earlier. */
const seconds = z.number().int().min(0).max(50);

/** Arguments of a tool in addition to those of its operation. */
export const runArguments = z.strictObject({
  waitSeconds: seconds.default(0).describe('Seconds to wait for the end of the run; 0 returns at once.'),
});

export const waitArguments = z.strictObject({
  timeoutSeconds: seconds.default(50).describe('Longest wait in seconds.'),
});

export const readArguments = z.strictObject({
  detail: z
    .enum(['summary', 'steps', 'full'])
    .default('summary')
    .describe('summary: the result; steps: also the steps; full: everything.'),
  resultFrom: z.number().int().min(0).default(0).describe('Character at which to continue a long result.'),
});

const OWN_ARGUMENTS: Readonly<Record<string, z.ZodType>> = {
  run_routine: runArguments,
  wait_for_run: waitArguments,
  read_run: readArguments,
};

/**
 * Fields that assistants do not need: the project, the manager of a routine or skill and its file, and the acceptance
 * of a forecast by a person.
 */
const UNSAID = new Set(['projectId', 'managedBy', 'managedFrom', 'acceptForecast']);

/** Tools whose answers programs evaluate. Other tools that act give structured content without a schema. */
const WITH_OUTPUT = new Set(['create_routine', 'activate_routine', 'run_routine']);

/** Fields of structured content for programs, if a response has them. A response may also have other fields. */
const OUTPUT = ['id', 'routineId', 'state', 'outcome', 'result'];

const TOOLS: ReadonlyMap<string, RouteTool> = new Map(
  routes.flatMap((route) => {
    const tool = toolOf(route);
    if (tool === undefined) return [];
    const { name } = tool.definition;
    return name === 'read_run'
      ? [
          [name, tool],
          ['wait_for_run', waitingFor(tool)],
        ]
      : [[name, tool]];
  }),
);

/** @throws {AppError} `route_not_found` for an operation that is not a tool, and for an unknown name */
export function toolNamed(name: string): RouteTool {
  const found = TOOLS.get(name);
  if (found !== undefined) return found;
  throw new AppError('route_not_found', `There is no tool ${name.slice(0, 100)}.`);
}

/** Returns the tools of these groups that a caller with these scopes sees, in order. */
export function visibleTools(scopes: readonly Scope[], toolsets: readonly Toolset[]): readonly RouteTool[] {
  return [...TOOLS.values()].filter(
    ({ route: { spec }, tool }) =>
      toolsets.includes(tool.toolset) && (spec.scope === undefined || scopes.includes(spec.scope)),
  );
}

/**
 * Reads the groups of tools in the address, `?toolsets=runs,usage` or `all`; without this parameter the default groups.
 * @throws {AppError} `invalid_request` for a group that does not exist
 */
export function readToolsets(asked: string | undefined): readonly Toolset[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
  const all = Object.keys(TOOLSETS) as Toolset[];
  if (asked === undefined) return all.filter((each) => TOOLSETS[each] === 'default');
  if (asked === 'all') return all;
  const names = new Set(asked.split(',').map((name) => name.trim()));
  // Each group is listed once and in a fixed order, because the groups are the key of a cache.
  const found = all.filter((each) => names.delete(each));
  if (names.size === 0) return found;
  throw new AppError('invalid_request', `toolsets: must be all, or some of ${all.join(', ')}`);
}

function waitingFor(reading: RouteTool): RouteTool {
  const definition = {
    ...reading.definition,
    name: 'wait_for_run',
    outputSchema: outputSchemaOf(reading.route.spec.success.data, reading.tool.view),
    description: 'Wait for the end of a run and return its result. Call again while it has not ended.',
    inputSchema: withArguments('wait_for_run', reading.route.spec),
  };
  return { ...reading, definition };
}

function toolOf(route: Route): RouteTool | undefined {
  const { spec } = route;
  const { mcp: tool } = spec;
  if (tool === undefined || 'stream' in route) return undefined;
  const name = spec.id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const isRead = spec.method === 'GET';
  const namesIn = (schema: z.ZodType | undefined) =>
    new Set(Object.keys(schema instanceof z.ZodObject ? schema.shape : {}));
  return {
    route,
    tool,
    definition: {
      name,
      description: TOOL_WORDS[name] ?? describe(spec, tool),
      inputSchema: withArguments(name, spec),
      ...(WITH_OUTPUT.has(name) && { outputSchema: outputSchemaOf(spec.success.data, tool.view) }),
      annotations: {
        ...(isRead
          ? { readOnlyHint: true }
          : { destructiveHint: tool.destructive === true, ...(spec.idempotent !== true && { idempotentHint: true }) }),
        openWorldHint: false,
      },
    },
    params: namesIn(spec.params),
    query: namesIn(spec.query),
  };
}

function describe({ summary, description = '' }: RouteSpec, { note }: Tool): string {
  return [summary, note ?? gist(description)]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => `${part?.replace(/[.:]$/, '')}.`)
    .join(' ');
}

function outputSchemaOf(data: z.ZodType, view: Tool['view']): NonNullable<ToolDefinition['outputSchema']> {
  const { properties } = inputSchemaOf(data);
  const shape = data instanceof z.ZodObject ? data.shape : {};
  const fields = OUTPUT.filter((name) => view?.includes(name));
  // Leave null out of the types, because a field that is null is left out of the content.
  const bare = ({ type, enum: words }: JsonSchema) => ({
    type: [type].flat()[0],
    ...(Array.isArray(words) && { enum: words.filter((word) => word !== null) }),
  });
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((name) => [name, bare(Object(properties[name]))])),
    required: fields.filter((name) => !z.safeParse(shape[name], null).success),
  };
}

function withArguments(name: string, spec: RouteSpec): ToolDefinition['inputSchema'] {
  const schemas = [spec.params, spec.query, spec.body, OWN_ARGUMENTS[name]];
  const parts = schemas
    .filter((schema) => schema !== undefined)
    .map((schema) => inputSchemaOf(schema, { isChange: spec.method === 'PATCH' }));
  const properties: JsonSchema = Object.assign({}, ...parts.map(({ properties: own }) => own), headersOf(spec));
  const fields = Object.entries(properties).filter(([field]) => !UNSAID.has(field));
  const required = parts.flatMap((part) => part.required).filter((field) => !UNSAID.has(field));
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([field, schema]) => [field, worded(name, field, schema)])),
    ...(required.length > 0 && { required }),
  };
}

function worded(tool: string, field: string, schema: unknown): unknown {
  const description = argumentWords(tool, field);
  return description === undefined ? schema : { ...Object(schema), description };
}

function headersOf({ idempotent, conditional, method }: RouteSpec) {
  return {
    ...(idempotent === true && {
      idempotencyKey: { type: 'string', description: 'Calls with the same key act once.' },
    }),
    ...(conditional !== undefined &&
      method !== 'GET' && {
        ifMatch: { type: 'string', description: 'Refuse unless `etag` still is this.' },
      }),
  };
}
