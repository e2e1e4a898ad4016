import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '#lib/json.ts';
import { shownText } from '#lib/text.ts';
import { headerAnnotationFault, mirrorsParameters, unseenCharacter, type ToolDefinition } from './definition.ts';
import { ToolServerError } from './error.ts';
import type { ToolPage } from './read-list.ts';
import type { ToolSession } from './session.ts';
import type { CallLimits } from './session-life.ts';

const MAX_PAGES = 50;
const MAX_TOOLS = 1_000;
/** The most tools over all pages, usable or not. */
const MAX_LISTED = 2_000;
/** The most bytes of one definition: a longer definition is too long for a person to review and for a model to read. */
const MAX_DEFINITION_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 128;
/** Number of tools that are examined in one turn of the event loop. */
const TOOLS_A_TURN = 50;
/** The most bytes of all definitions together, usable or not: far more than any model reads. */
const MAX_ALL_BYTES = 4 * 1024 * 1024;

export interface ListedTools {
  readonly tools: readonly ToolDefinition[];
  readonly skipped: readonly SkippedTool[];
  /** Parts that were left out of usable tools. */
  readonly dropped: readonly SkippedTool[];
  /** True when there are more tools than the limits allow. */
  readonly truncated: boolean;
  /** True when the server's pages lead back to an earlier page, so that the rest of the list is unknown. */
  readonly circular: boolean;
}

/** A tool of the server that cannot be used, or a field that was left out of its definition. */
export interface SkippedTool {
  /** Name of the tool, cut for display, or its place in the list if it has no name. */
  readonly tool: string;
  /** The field that cannot be read; null for the tool as a whole. */
  readonly field: string | null;
  /** Reason in the service's own words. */
  readonly reason: string;
}

/** Reads the pages of a server's tools up to the limits. @throws {ToolServerError} */
export async function listAllTools(session: ToolSession, limits: CallLimits): Promise<ListedTools> {
  const tools = new Map<string, ToolDefinition>();
  const skipped: SkippedTool[] = [];
  const dropped: SkippedTool[] = [];
  const ended = (how: 'whole' | 'truncated' | 'circular'): ListedTools => ({
    tools: [...tools.values()],
    skipped,
    dropped,
    truncated: how === 'truncated',
    circular: how === 'circular',
  });
  let bytes = 0;
  let listed = 0;
  const pages = pagesOf(session, limits);
  for (let next = await pages.next(); ; next = await pages.next()) {
    if (next.done === true) return ended(next.value);
    for (const tool of next.value.tools) {
      if (listed % TOOLS_A_TURN === 0) await nextTurn();
      listed += 1;
      if (listed > MAX_LISTED) return ended('truncated');
      const { definition } = tool;
      if (definition === undefined) {
        skipped.push({ tool: shownName(tool.name, listed), ...tool.fault });
        continue;
      }
      const { name } = definition;
      const size = sizeOf(definition);
      // An unusable tool was sent too, so its size counts.
      bytes += Math.min(size, MAX_ALL_BYTES);
      if (bytes > MAX_ALL_BYTES) return ended('truncated');
      const earlier = tools.get(name);
      // Skip a tool of a repeated page: servers that ignore the cursor send the same page again.
      if (earlier !== undefined && isDeepStrictEqual(earlier, definition)) continue;
      const reason = earlier === undefined ? unusable(session, definition, size) : 'another tool has the same name';
      if (reason !== undefined) {
        skipped.push({ tool: shownName(name, listed), field: null, reason });
        continue;
      }
      if (tools.size >= MAX_TOOLS) return ended('truncated');
      tools.set(name, definition);
      dropped.push(...tool.dropped.map((fault) => ({ tool: shownName(name, listed), ...fault })));
    }
  }
}

function shownName(name: string | null, place: number): string {
  return name === null || name === '' ? `tool ${place} of the list` : shownText(name, MAX_NAME_LENGTH);
}

/**
 * Reads page after page.
 * @returns why the list ended: `whole` after its last page, `truncated` at the limit of pages, or `circular` because a
 * page repeats a cursor
 */
async function* pagesOf(
  session: ToolSession,
  { signal, timeoutMs }: CallLimits,
): AsyncGenerator<ToolPage, 'whole' | 'truncated' | 'circular'> {
  const end = Date.now() + timeoutMs;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const left = end - Date.now();
    if (left <= 0) throw new ToolServerError('too_slow');
    const found = await session.listTools(cursor, { signal, timeoutMs: left });
    yield found;
    cursor = found.nextCursor;
    if (cursor === undefined) return 'whole';
    if (cursors.has(cursor)) return 'circular';
    cursors.add(cursor);
  }
  return 'truncated';
}

/** The tools of a list up to the wanted tool. */
export interface FoundTool {
  /** The tool; undefined if the server does not list it, or if its definition is unusable. */
  readonly definition: ToolDefinition | undefined;
  /** The usable tools that are listed before the wanted tool, by name. */
  readonly listed: ReadonlyMap<string, ToolDefinition>;
  /** Time for which the server guarantees its list; infinite when the server names no time. */
  readonly ttlMs: number;
}

/** Finds a tool as the server defines it at this moment. @throws {ToolServerError} */
export async function findTool(session: ToolSession, name: string, limits: CallLimits): Promise<FoundTool> {
  const seen = new Set<string>();
  const listed = new Map<string, ToolDefinition>();
  let ttlMs = Number.POSITIVE_INFINITY;
  for await (const page of pagesOf(session, limits)) {
    ttlMs = Math.min(ttlMs, page.ttlMs);
    for (const { definition } of page.tools) {
      // If a name repeats, the first definition counts.
      if (definition === undefined || seen.has(definition.name)) continue;
      seen.add(definition.name);
      if (seen.size % TOOLS_A_TURN === 0) await nextTurn();
      if (unusable(session, definition, sizeOf(definition)) === undefined) listed.set(definition.name, definition);
    }
    if (seen.has(name)) break;
  }
  return { definition: listed.get(name), listed, ttlMs };
}

function unusable({ server }: ToolSession, definition: ToolDefinition, size: number): string | undefined {
  const { name, inputSchema } = definition;
  const isNamed = name.length > 0 && name.length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(name);
  if (!isNamed) return 'its name is empty, too long, or holds control characters';
  if (size > MAX_DEFINITION_BYTES) return 'its definition is over 64 kB or nested too deeply';
  const unseen = unseenCharacter(definition);
  if (unseen !== undefined) {
    return `its definition holds an invisible character (${unseen}), in which a model may read what was never confirmed`;
  }
  return mirrorsParameters(server.protocolVersion) ? headerAnnotationFault(inputSchema) : undefined;
}

function sizeOf(definition: ToolDefinition): number {
  try {
    return Buffer.byteLength(canonicalJson(definition));
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
