import type { ListToolsResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '#lib/json.ts';

/**
 * A tool in the words of its server: a person is shown all of it before they confirm the tool, and confirms all of it.
 */
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
