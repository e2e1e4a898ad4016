import type { ListToolsResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '#lib/json.ts';
import { unseenIn } from '#lib/text.ts';

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

/** Names a character of a definition that nobody sees, in a text or in a name of its schemas. */
export function unseenCharacter(
  definition: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>,
): string | undefined {
  // JSON escapes some of them, so texts and names are looked at before they are written as JSON.
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
