import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJson } from '#lib/json.ts';
import { shownText } from '#lib/text.ts';
import {
  headerAnnotationFault,
  mirrorsParameters,
  toolDefinition,
  unseenCharacter,
  type ToolDefinition,
} from './definition.ts';
import { ToolServerError } from './error.ts';
import type { ToolSession } from './session.ts';
import type { CallLimits } from './session-life.ts';

const MAX_PAGES = 50;
const MAX_TOOLS = 1_000;
/** Usable or not, over all pages. */
const MAX_LISTED = 2_000;
/** A definition beyond this cannot be reviewed by a person, nor be given to a model. */
const MAX_DEFINITION_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 128;
/** Looked at in one turn of the event loop. */
const TOOLS_A_TURN = 50;
/** All definitions together, usable or not: far more than any model reads. */
const MAX_ALL_BYTES = 4 * 1024 * 1024;

export interface ListedTools {
  readonly tools: readonly ToolDefinition[];
  readonly skipped: readonly SkippedTool[];
  /** True when there are more tools than the limits allow. */
  readonly truncated: boolean;
}

/** A tool that the server has and that cannot be used here. */
export interface SkippedTool {
  /** Cut to what can be shown. */
  readonly tool: string;
  /** Reason in the service's own words. */
  readonly reason: string;
}

/** Pages through the tools of a server as far as the caps go. @throws {ToolServerError} */
export async function listAllTools(session: ToolSession, { signal, timeoutMs }: CallLimits): Promise<ListedTools> {
  const end = Date.now() + timeoutMs;
  const tools = new Map<string, ToolDefinition>();
  const skipped: SkippedTool[] = [];
  let bytes = 0;
  let listed = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await session.listTools(cursor, { signal, timeoutMs: timeLeft(end) });
    for (const tool of found.tools) {
      if (listed % TOOLS_A_TURN === 0) await nextTurn();
      listed += 1;
      if (listed > MAX_LISTED) return { tools: [...tools.values()], skipped, truncated: true };
      const definition = toolDefinition(tool);
      const size = sizeOf(definition);
      // One that cannot be used has been sent all the same.
      bytes += Math.min(size, MAX_ALL_BYTES);
      if (bytes > MAX_ALL_BYTES) return { tools: [...tools.values()], skipped, truncated: true };
      const reason = tools.has(tool.name) ? 'another tool has the same name' : unusable(session, definition, size);
      if (reason !== undefined) {
        skipped.push({ tool: shownText(tool.name, MAX_NAME_LENGTH), reason });
        continue;
      }
      if (tools.size >= MAX_TOOLS) {
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

/** The tools of a list up to one that was looked for. */
export interface FoundTool {
  /** The tool, or undefined when it is gone, or is one that a list leaves out. */
  readonly definition: ToolDefinition | undefined;
  /** The tools that were listed before that and can be used, by name. */
  readonly listed: ReadonlyMap<string, ToolDefinition>;
  /**
   * Time for which the server vouches for what it listed (MCP 2026-07-28, "Caching"); infinite where it says nothing.
   */
  readonly ttlMs: number;
}

/** Finds a tool as the server defines it at this moment. @throws {ToolServerError} */
export async function findTool(
  session: ToolSession,
  name: string,
  { signal, timeoutMs }: CallLimits,
): Promise<FoundTool> {
  const end = Date.now() + timeoutMs;
  const seen = new Set<string>();
  const listed = new Map<string, ToolDefinition>();
  let ttlMs = Number.POSITIVE_INFINITY;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && !seen.has(name); page += 1) {
    const found = await session.listTools(cursor, { signal, timeoutMs: timeLeft(end) });
    ttlMs = Math.min(ttlMs, statedTtl(found['ttlMs']));
    for (const tool of found.tools) {
      // The first of a name is the tool.
      if (seen.has(tool.name)) continue;
      seen.add(tool.name);
      if (seen.size % TOOLS_A_TURN === 0) await nextTurn();
      const definition = toolDefinition(tool);
      if (unusable(session, definition, sizeOf(definition)) === undefined) {
        listed.set(tool.name, definition);
      }
    }
    const { nextCursor } = found;
    if (nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return { definition: listed.get(name), listed, ttlMs };
}

function statedTtl(ttlMs: unknown): number {
  // Servers that have no opinion say 0.
  return typeof ttlMs === 'number' && ttlMs > 0 ? Math.ceil(ttlMs) : Number.POSITIVE_INFINITY;
}

/** Says why a tool is left out; undefined when it is not. */
function unusable({ server }: ToolSession, definition: ToolDefinition, size: number): string | undefined {
  const { name, inputSchema } = definition;
  if (!isUsableName(name)) return 'its name is empty, too long, or holds control characters';
  if (size > MAX_DEFINITION_BYTES) return 'its definition is over 64 kB or nested too deeply';
  const unseen = unseenCharacter(definition);
  if (unseen !== undefined) {
    return `its definition holds an invisible character (${unseen}), in which a model may read what was never confirmed`;
  }
  return mirrorsParameters(server.protocolVersion) ? headerAnnotationFault(inputSchema) : undefined;
}

/** Measures a definition in bytes; one nested too deeply to be measured is larger than any limit. */
function sizeOf(definition: ToolDefinition): number {
  try {
    return Buffer.byteLength(canonicalJson(definition));
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function timeLeft(end: number): number {
  const left = end - Date.now();
  if (left <= 0) throw new ToolServerError('too_slow');
  return left;
}

function isUsableName(name: string): boolean {
  return name.length > 0 && name.length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(name);
}
