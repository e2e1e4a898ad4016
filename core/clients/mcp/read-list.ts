import { isJsonObject, type JsonObject } from '#lib/json.ts';
import type { ToolDefinition } from './definition.ts';
import { ToolServerError } from './error.ts';

/** One page of a server's tools; each tool is read separately. */
export interface ToolPage {
  readonly tools: readonly ListedTool[];
  /** Cursor of the next page; undefined on the last page. */
  readonly nextCursor: string | undefined;
  /**
   * Time for which the server guarantees the page (MCP 2026-07-28, "Caching"); infinite when the server names no time.
   */
  readonly ttlMs: number;
}

/** A definition, or the field that makes the tool unusable. */
export type ListedTool =
  | { readonly definition: ToolDefinition; readonly dropped: readonly FieldFault[] }
  | { readonly definition?: undefined; readonly name: string | null; readonly fault: FieldFault };

/** A field of a tool that cannot be read, with the reason as a clause that can follow the field's name. */
export interface FieldFault {
  readonly field: string;
  readonly reason: string;
}

/** Reads the result of `tools/list`. @throws {ToolServerError} `malformed`, when the result is not a list */
export function readPage(result: unknown): ToolPage {
  if (!isJsonObject(result))
    throw new ToolServerError('malformed', { place: `the result is ${kindOf(result)}, not an object` });
  const { tools, nextCursor, ttlMs } = result;
  if (!Array.isArray(tools))
    throw new ToolServerError('malformed', { place: `result.tools is ${kindOf(tools)}, not a list` });
  const hasNext = (typeof nextCursor === 'string' && nextCursor !== '') || typeof nextCursor === 'number';
  return {
    tools: tools.map(readTool),
    // Servers write an empty cursor, or null, on their last page.
    nextCursor: hasNext ? String(nextCursor) : undefined,
    // Servers without a preference say 0, which counts as no limit.
    ttlMs: typeof ttlMs === 'number' && ttlMs > 0 ? Math.ceil(ttlMs) : Number.POSITIVE_INFINITY,
  };
}

function readTool(tool: unknown): ListedTool {
  if (!isJsonObject(tool)) return { name: null, fault: { field: 'tool', reason: `is ${kindOf(tool)} and no object` } };
  const { name, inputSchema, outputSchema, annotations } = tool;
  if (typeof name !== 'string')
    return { name: null, fault: { field: 'name', reason: `is ${kindOf(name)}, not a text` } };
  if (!isNone(inputSchema) && !isJsonObject(inputSchema)) {
    return { name, fault: { field: 'inputSchema', reason: `is ${kindOf(inputSchema)} and no object` } };
  }
  const dropped: FieldFault[] = [];
  const text = (field: 'title' | 'description'): string | null => {
    const value = tool[field];
    if (typeof value === 'string') return value;
    if (!isNone(value)) dropped.push({ field, reason: `is ${kindOf(value)}, not a text` });
    return null;
  };
  return {
    definition: {
      name,
      title: text('title'),
      description: text('description'),
      inputSchema: ofObjects(inputSchema),
      outputSchema: objectOrNone(outputSchema, 'outputSchema', dropped),
      annotations: readAnnotations(objectOrNone(annotations, 'annotations', dropped), dropped),
    },
    dropped,
  };
}

/** Makes a schema require an object, because arguments are objects (MCP, "Tools: Data Types"). */
function ofObjects(schema: JsonObject | null | undefined): JsonObject {
  return schema?.['type'] === 'object' ? schema : { ...schema, type: 'object' };
}

function objectOrNone(value: unknown, field: string, dropped: FieldFault[]): JsonObject | null {
  if (isJsonObject(value)) return value;
  if (!isNone(value)) dropped.push({ field, reason: `is ${kindOf(value)} and no object` });
  return null;
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Keeps the title and the hints. A hint that cannot be read counts as given if that makes the service stricter. */
function readAnnotations(annotations: JsonObject | null, dropped: FieldFault[]): JsonObject | null {
  if (annotations === null) return null;
  const read: Record<string, unknown> = {};
  if (typeof annotations['title'] === 'string') read['title'] = annotations['title'];
  for (const hint of HINTS) {
    const value = annotations[hint];
    if (isNone(value)) continue;
    const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
    if (typeof word === 'boolean') read[hint] = word;
    else if (word === 'true' || word === 'false') read[hint] = word === 'true';
    else {
      dropped.push({ field: `annotations.${hint}`, reason: `is ${kindOf(value)} and neither true nor false` });
      if (hint === 'destructiveHint' || hint === 'openWorldHint') read[hint] = true;
    }
  }
  return read;
}

function isNone(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Names the kind of a JSON value with its article. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
