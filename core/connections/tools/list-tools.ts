import type { ListToolsResult } from '@modelcontextprotocol/client';
import { ToolServerFault } from '../mcp/fault.ts';
import type { ToolSession } from '../mcp/session.ts';
import { canonicalJson, toolDefinition, type ToolDefinition } from './definition.ts';

export const MAX_PAGES = 50;
export const MAX_TOOLS = 1_000;
/** A definition beyond this cannot be reviewed by a person, nor be given to a model. */
export const MAX_DEFINITION_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 128;
const MAX_ALL_BYTES = 8 * 1024 * 1024;

export interface ListedTools {
  readonly tools: readonly ToolDefinition[];
  /** Tools that are left out: their definition is too large, or their name was there before. */
  readonly skipped: number;
  /** There are more than the caps allow. */
  readonly truncated: boolean;
}

/** Pages through the tools of a server as far as the caps go. @throws {ToolServerFault} */
export async function listAllTools(
  session: ToolSession,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<ListedTools> {
  const end = Date.now() + timeoutMs;
  const tools = new Map<string, ToolDefinition>();
  let skipped = 0;
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await session.listTools(cursor, { signal, timeoutMs: timeLeft(end) });
    for (const tool of found.tools) {
      const definition = toolDefinition(tool);
      const size = Buffer.byteLength(canonicalJson(definition));
      if (size > MAX_DEFINITION_BYTES || !isUsableName(tool.name) || tools.has(tool.name)) {
        skipped += 1;
        continue;
      }
      bytes += size;
      if (tools.size >= MAX_TOOLS || bytes > MAX_ALL_BYTES) {
        return { tools: [...tools.values()], skipped, truncated: true };
      }
      tools.set(tool.name, definition);
    }
    const next = found.nextCursor;
    if (next === undefined) return { tools: [...tools.values()], skipped, truncated: false };
    if (next === cursor) break;
    cursor = next;
  }
  return { tools: [...tools.values()], skipped, truncated: true };
}

/** The tool as the server defines it at this moment, or undefined when it is gone. @throws {ToolServerFault} */
export async function findTool(
  session: ToolSession,
  name: string,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<ListToolsResult['tools'][number] | undefined> {
  const end = Date.now() + timeoutMs;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { tools, nextCursor } = await session.listTools(cursor, {
      signal,
      timeoutMs: timeLeft(end),
    });
    const found = tools.find((tool) => tool.name === name);
    if (found !== undefined || nextCursor === undefined || nextCursor === cursor) return found;
    cursor = nextCursor;
  }
  return undefined;
}

function timeLeft(end: number): number {
  const left = end - Date.now();
  if (left <= 0) throw new ToolServerFault('too_slow');
  return left;
}

function isUsableName(name: string): boolean {
  return name.length > 0 && name.length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(name);
}
