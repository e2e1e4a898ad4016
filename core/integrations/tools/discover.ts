import type { Actor } from '#core/foundation/audit/index.ts';
import {
  CONNECTION_ERRORS,
  lockConnection,
  markReady,
  readConnection,
  toolServerOf,
  type Connection,
  type ConnectionsCore,
} from '#core/integrations/connections/index.ts';
import {
  listAllTools,
  openToolSession,
  ToolServerError,
  type ListedTools,
  type SkippedTool,
} from '#core/clients/mcp/index.ts';
import { transaction } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { sentence } from '#lib/text.ts';
import { createTurns } from '#lib/turns.ts';
import type { ToolPolicy } from './policy.ts';
import { holdRoutine, listPoliciesOfConnection } from './queries.ts';
import { draftReason, writeDiscovered, type DiscoveryCounts, type DiscoveryScope } from './write-discovered.ts';

type DiscoverCore = Pick<
  ConnectionsCore,
  'connectionSecrets' | 'credentials' | 'database' | 'emit' | 'log' | 'outbound'
>;

export interface Discovery extends Omit<DiscoveryCounts, 'retired'> {
  /** Number of tools that were left out. */
  readonly skipped: number;
  /** The first tools that were left out, each with the reason. */
  readonly skippedTools: readonly SkippedTool[];
  /** Unreadable fields that were left out of listed tools. */
  readonly droppedFields: readonly SkippedTool[];
  readonly truncated: boolean;
  /** True when the server's pages lead back to an earlier page, so that later tools are unknown. */
  readonly circular: boolean;
  readonly policies: readonly ToolPolicy[];
}

const TIMEOUT_MS = 60_000;
const MAX_SHOWN_SKIPPED = 50;

/**
 * Asks the connection's server for its tools and gives the routine a disabled policy for each tool. When an automatic
 * tool has changed or is gone, the routine returns to draft.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `connection_not_found`, `connection_not_ready`,
 * `provider_error`, `rate_limited` while many other discoveries of the project wait
 */
export async function discoverTools(deps: DiscoverCore, scope: DiscoveryScope, by: Actor): Promise<Discovery> {
  const found = await inTurn(scope.projectId, () => discover(deps, scope, by));
  if (found !== undefined) return found;
  throw new AppError('rate_limited', 'Too many discoveries of this project are waiting; try again later.', {
    'Retry-After': '10',
  });
}

/** One discovery of a project at a time, because a long response delays every other request of the process. */
const inTurn = createTurns(20);

async function discover(deps: DiscoverCore, scope: DiscoveryScope, by: Actor): Promise<Discovery> {
  const { projectId, routineId, connectionId } = scope;
  const { database, emit } = deps;
  // Check the routine before the server is asked, which takes time. Lock the routine only afterwards.
  await transaction(database, (tx) => holdRoutine(tx, scope));
  const listed = await askServer(deps, scope);
  return transaction(database, async (tx) => {
    await holdRoutine(tx, scope);
    await lockConnection(tx, projectId, connectionId);
    const { tools, skipped, dropped, truncated, circular } = listed;
    const { retired, ...counts } = await writeDiscovered(tx, scope, { tools, complete: !truncated && !circular });
    if (retired.length > 0) {
      await emit(tx, 'tools.changed', { projectId, routineIds: [routineId], reason: draftReason(retired), by });
    }
    return {
      ...counts,
      skipped: skipped.length,
      skippedTools: skipped.slice(0, MAX_SHOWN_SKIPPED),
      droppedFields: dropped.slice(0, MAX_SHOWN_SKIPPED),
      truncated,
      circular,
      policies: await listPoliciesOfConnection(tx, scope),
    };
  });
}

async function askServer(
  deps: DiscoverCore,
  { projectId, connectionId }: { projectId: string; connectionId: string },
): Promise<ListedTools> {
  const connection = await readConnection(deps.database, projectId, connectionId);
  // Credentials that a person typed in need no sign-in, so such a server is asked in every state of the connection.
  const typedIn = connection.auth === 'bearer' || connection.auth === 'headers';
  const ready = connection.state === 'ready';
  if (connection.url === null || !(ready || typedIn)) throw notReady(connection);
  const limits = { signal: new AbortController().signal, timeoutMs: TIMEOUT_MS };
  try {
    const listed = await listOnSession(deps, connection, limits).catch((error: unknown) => {
      if (!(error instanceof ToolServerError) || error.kind !== 'session_lost') throw error;
      // A listing changes nothing, so it can start again on a new session.
      return listOnSession(deps, connection, limits);
    });
    for (const tool of listed.skipped.slice(0, MAX_SHOWN_SKIPPED)) {
      deps.log.warn({ projectId, connectionId, ...tool }, 'a tool was left out');
    }
    if (listed.circular) deps.log.warn({ projectId, connectionId }, 'a tool server repeats its list of tools');
    if (!ready) await markReady(deps.database, connection);
    return listed;
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    if (error.isDenial) throw notReady(await readConnection(deps.database, projectId, connectionId), error.message);
    throw new AppError('provider_error', `The tools could not be listed: ${error.message}.`);
  }
}

async function listOnSession(
  deps: DiscoverCore,
  connection: Connection,
  limits: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ListedTools> {
  const session = await openToolSession(deps, toolServerOf(deps, connection), limits);
  try {
    return await listAllTools(session, limits);
  } finally {
    await session.close();
  }
}

function notReady({ publicError }: Connection, otherwise?: string): AppError {
  const message = publicError === null ? otherwise && sentence(otherwise) : CONNECTION_ERRORS[publicError];
  return new AppError('connection_not_ready', message);
}
