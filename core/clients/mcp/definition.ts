import { NAMED_SUBSCHEMAS, SUBSCHEMAS } from '#core/clients/json-schemas/index.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { unseenIn } from '#lib/text.ts';

/** A tool as its server describes it. A person sees and confirms the whole description. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  /** Claims of the server about the tool; trusted only if they make the service stricter. */
  readonly annotations: JsonObject | null;
}

/** Names an invisible character of a definition, in a text or in a name of its schemas; undefined if there is none. */
export function unseenCharacter(
  definition: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>,
): string | undefined {
  // Check texts and names before they become JSON, because JSON escapes some of these characters.
  const waiting: unknown[] = [definition];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') {
      const unseen = unseenIn(value);
      if (unseen !== undefined) return unseen;
    } else if (typeof value === 'object' && value !== null) {
      waiting.push(...(Array.isArray(value) ? value : Object.entries(value).flat()));
    }
  }
  return undefined;
}

/**
 * Describes the fault of the `x-mcp-header` annotations of an input schema (MCP 2026-07-28, "Custom Headers from Tool
 * Parameters"); undefined without a fault. The MCP library sends the headers of a schema that passes. The library
 * leaves out tools by the same rules, but only from lists whose pages it reads by itself.
 */
export function headerAnnotationFault(inputSchema: JsonObject): string | undefined {
  const names = new Set<string>();
  // Use a list instead of recursion, because the server chooses how deeply the schema is nested.
  const open: Place[] = [{ schema: inputSchema, reachable: false, below: true }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { schema, reachable, below } = place;
    if (ANNOTATION in schema) {
      const fault = annotationFault(schema, reachable, names);
      if (fault !== undefined) return `its x-mcp-header annotation is invalid: ${fault}`;
    }
    const { properties } = schema;
    if (isJsonObject(properties)) {
      for (const child of Object.values(properties)) add(open, child, below);
    }
    for (const keyword of SUBSCHEMAS) {
      const child = schema[keyword];
      for (const each of Array.isArray(child) ? child : [child]) add(open, each, false);
    }
    for (const keyword of NAMED_SUBSCHEMAS) {
      const named = schema[keyword];
      if (keyword !== 'properties' && isJsonObject(named))
        for (const child of Object.values(named)) add(open, child, false);
    }
  }
  return undefined;
}

/**
 * Tells whether a revision of the protocol mirrors parameters in headers. In earlier revisions the annotation has no
 * meaning.
 */
export function mirrorsParameters(protocolVersion: string): boolean {
  return protocolVersion >= '2026-07-28';
}

interface Place {
  readonly schema: JsonObject;
  /** True for a parameter that is reached from the root through `properties` only. */
  readonly reachable: boolean;
  /** True when the properties of this place are reachable as well. */
  readonly below: boolean;
}

const ANNOTATION = 'x-mcp-header';
/** Matches a token of HTTP (RFC 9110, section 5.6.2). */
const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

function annotationFault(schema: JsonObject, reachable: boolean, names: Set<string>): string | undefined {
  const name = schema[ANNOTATION];
  if (!reachable) return 'it stands where no parameter is reached through properties only';
  if (typeof name !== 'string' || !HTTP_TOKEN.test(name)) return 'it is not a header name';
  if (!MIRRORED_TYPES.has(schema['type'])) return 'the type is not string, integer or boolean';
  if (names.has(name.toLowerCase())) return 'two parameters name the same header';
  names.add(name.toLowerCase());
  return undefined;
}

function add(open: Place[], child: unknown, reachable: boolean): void {
  if (isJsonObject(child)) open.push({ schema: child, reachable, below: reachable });
}
