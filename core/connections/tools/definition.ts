import { createHash } from 'node:crypto';
import type { ListToolsResult } from '@modelcontextprotocol/client';

type JsonObject = Readonly<Record<string, unknown>>;

/** What a server says a tool is: what a person is shown before they confirm it, and what they are then held to. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  /** Claims of the server about what the tool does; trusted only where that makes us stricter. */
  readonly annotations: JsonObject | null;
}

export function toolDefinition(tool: ListToolsResult['tools'][number]): ToolDefinition {
  return {
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
  };
}

/** SHA-256 in hex of the whole definition, the same however the server orders its keys. */
export function definitionHash(definition: ToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const whole = { name, title, description, inputSchema, outputSchema, annotations };
  return createHash('sha256').update(canonicalJson(whole)).digest('hex');
}

/** Far more than a definition needs, and far less than the stack holds. */
const MAX_DEPTH = 200;

/** JSON with sorted keys and no white space, in the manner of RFC 8785. @throws {RangeError} when nested too deeply */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member, depth + 1)}`);
  return `{${members.join(',')}}`;
}
