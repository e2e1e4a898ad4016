import { toolServerOf, type ConnectionsCore } from '#core/integrations/connections/index.ts';
import {
  findTool,
  ToolServerError,
  type LeasedSession,
  type ToolDefinition,
  type ToolResult,
  type ToolServerErrorKind,
  type ToolSessions,
} from '#core/clients/mcp/index.ts';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import { transaction } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  judgeCall,
  refused,
  resultFault,
  type AllowedCall,
  type MaybeSent,
  type RefusedCall,
  type RefusalReason,
  type WantedCall,
} from './judge-call.ts';
import { definitionHash, isRepeatable, type ToolPolicy } from './policy.ts';
import { holdRoutine, type ToolTarget } from './queries.ts';
import { draftReason, writeDiscovered } from './write-discovered.ts';

export interface ToolCallDeps extends Pick<ConnectionsCore, 'connectionSecrets' | 'credentials' | 'database' | 'emit'> {
  readonly toolSessions: ToolSessions;
}

/** The run that calls a tool. Its calls share the sessions of stateful servers. */
export interface Caller {
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** A call that was not sent, because the caller of `callOnce` did not confirm the call. */
export interface Overtaken {
  readonly kind: 'overtaken';
}

export type MadeCall = AnsweredCall | FailedCall | RefusedCall | MaybeSent | Overtaken;

export interface AnsweredCall {
  readonly kind: 'answered';
  readonly result: ToolResult;
  /** Reason why the result cannot be relied on, in the service's words. The call was made. */
  readonly unusable: string | undefined;
  readonly secrets: readonly string[];
}

export interface FailedCall {
  readonly kind: 'failed';
  readonly error: ToolServerError;
  /** True when the call may have taken effect and a second call may do harm. */
  readonly uncertain: boolean;
  readonly secrets: readonly string[];
}

/** Time limit of the call itself. Each request before the call has a shorter limit. */
const CALL_TIMEOUT_MS = 120_000;
const PREPARE_TIMEOUT_MS = 30_000;

/**
 * Makes a call once: judges it, lets the caller confirm and record it, and sends it. A tool that differs from its
 * confirmed definition is disabled.
 * @param confirm records that the call is sent now under this policy, unless the facts of the decision have changed;
 * `secrets` authenticate the call and are removed from the record
 */
export async function callOnce(
  deps: ToolCallDeps,
  caller: Caller,
  wanted: WantedCall,
  confirm: (policy: ToolPolicy, secrets: readonly string[]) => Promise<boolean>,
): Promise<MadeCall> {
  const decided = await prepare(deps, caller, wanted, { fresh: false });
  if (decided.kind !== 'allowed') return decided;
  const { lease } = decided.found;
  let confirmed = false;
  try {
    confirmed = await confirm(decided.policy, lease.session.secrets());
  } finally {
    if (!confirmed) lease.release('keep');
  }
  return confirmed ? send(deps, caller, wanted, decided) : { kind: 'overtaken' };
}

/** Decides whether a call may be made. For an allowed call, also returns the session on which its tool was found. */
export async function prepare(
  deps: ToolCallDeps,
  caller: Caller,
  wanted: WantedCall,
  { fresh }: { readonly fresh: boolean },
): Promise<AllowedCall<LiveTool> | FailedCall | RefusedCall | MaybeSent> {
  const held: HeldSession = { lease: undefined };
  let live: LiveTool | undefined;
  let decision;
  try {
    decision = await judgeCall(wanted, async (target) => {
      live = await findLive(deps, caller, target, { held, fresh });
      return live;
    });
  } catch (error) {
    held.lease?.release('end');
    return failedCall(error, { secrets: held.lease?.session.secrets() ?? [], uncertain: false });
  }
  if (decision.kind === 'allowed') return decision;
  const isRetired = decision.kind === 'refused' && RETIRING.has(decision.reason);
  if (isRetired) held.lease?.forget();
  held.lease?.release('keep');
  if (isRetired && wanted.target !== undefined) {
    await retirePolicy(deps, wanted.target.policy, live?.definition);
  }
  return decision;
}

/** Reasons that concern the tool itself: they disable its policy, and not only refuse this one call. */
const RETIRING: ReadonlySet<RefusalReason> = new Set(['tool_changed', 'tool_vanished']);

/**
 * Disables the policy of a tool that a run found changed or gone, and returns the routine to draft. The policy shows
 * the server's present definition beside the confirmed hash.
 */
async function retirePolicy(
  { database, emit }: Pick<ToolCallDeps, 'database' | 'emit'>,
  policy: Pick<ToolPolicy, 'id' | 'projectId' | 'routineId' | 'connectionId' | 'toolName'>,
  live: ToolDefinition | undefined,
): Promise<void> {
  const { projectId, routineId, toolName } = policy;
  await transaction(database, async (tx) => {
    try {
      await holdRoutine(tx, policy);
    } catch (error) {
      if (error instanceof AppError) return;
      throw error;
    }
    const retired =
      live === undefined
        ? (await tx.run`
          update tool_policies set state = 'disabled', vanished_at = now(), updated_at = now()
          where id = ${policy.id} and project_id = ${projectId} and state <> 'disabled'
        `) > 0
        : (await writeDiscovered(tx, policy, { tools: [live], complete: false })).retired.length > 0;
    if (!retired) return;
    const reason = draftReason([toolName]);
    await emit(tx, 'tools.changed', { projectId, routineIds: [routineId], reason, by: SYSTEM });
  });
}

/** Session of a call, once it is open. */
interface HeldSession {
  lease: LeasedSession | undefined;
}

/** A tool as its server defines it, and the session to call it on. */
export interface LiveTool {
  readonly definition: ToolDefinition;
  readonly hash: string;
  readonly lease: LeasedSession;
  /** True if the tool comes from an earlier list of the run. */
  readonly isRemembered: boolean;
}

/**
 * Asks the server for the tool, and once more on a fresh session if the first request did not reach the server. If an
 * earlier list of the run shows the confirmed definition, no new list is read. A call is refused only after a new list.
 */
async function findLive(
  deps: ToolCallDeps,
  { runId, signal }: Caller,
  { policy, connection }: ToolTarget,
  { held, fresh }: { held: HeldSession; fresh: boolean },
): Promise<LiveTool | undefined> {
  const limits = { signal, timeoutMs: PREPARE_TIMEOUT_MS };
  const key = {
    server: toolServerOf(deps, connection),
    version: `${connection.id} ${connection.updatedAt.getTime()}`,
    holder: runId,
  };
  const { toolName, confirmedHash } = policy;
  const find = async (fresh: boolean) => {
    const lease = await deps.toolSessions.lease(key, limits, { fresh });
    held.lease = lease;
    if (confirmedHash !== null && lease.recall(toolName) === confirmedHash) {
      // A call that must not be made twice would be lost with its session, so test the session first.
      if (lease.session.stateful && !isRepeatable(policy)) await lease.session.ping(limits);
      const definition = { ...policy, name: toolName };
      return { definition, hash: confirmedHash, lease, isRemembered: true };
    }
    const { definition, listed, ttlMs } = await findTool(lease.session, toolName, limits);
    const hashes = new Map<string, string>();
    for (const [name, each] of listed) hashes.set(name, definitionHash(each));
    lease.remember(hashes, ttlMs);
    if (definition === undefined) return undefined;
    return { definition, hash: definitionHash(definition), lease, isRemembered: false };
  };
  try {
    return await find(fresh);
  } catch (error) {
    if (fresh || signal.aborted || !mayPass(error, held.lease)) throw error;
    held.lease?.release('end');
    held.lease = undefined;
    return find(true);
  }
}

/**
 * Tells whether a second request may succeed: the server may have forgotten the session or closed an idle connection.
 * Asking for a tool changes nothing, so the request can be repeated.
 */
function mayPass(error: unknown, lease: LeasedSession | undefined): boolean {
  if (lease?.reused === true) return true;
  return error instanceof ToolServerError && PASSING.has(error.kind);
}

const PASSING: ReadonlySet<ToolServerErrorKind> = new Set(['unreachable', 'broken', 'session_lost']);

/**
 * Sends an allowed call. The call is prepared and sent once more on another session when the server was not reached, or
 * when the server forgot the session and a second call does no harm.
 */
async function send(
  deps: ToolCallDeps,
  caller: Caller,
  wanted: WantedCall,
  { policy, args, found }: AllowedCall<LiveTool>,
  isFirst = true,
): Promise<Exclude<MadeCall, Overtaken>> {
  const { lease, definition, isRemembered } = found;
  const { session } = lease;
  const { signal } = caller;
  let result;
  try {
    result = await session.callTool(definition, args, { signal, timeoutMs: CALL_TIMEOUT_MS });
  } catch (error) {
    const kind = error instanceof ToolServerError ? error.kind : undefined;
    // A remembered list does not prove that the server can still be reached.
    const isUnreached = kind === 'unreachable' && isRemembered;
    const isHarmless = kind === 'session_lost' && isRepeatable(policy);
    if (isFirst && !signal.aborted && (isUnreached || isHarmless)) {
      lease.release('end');
      const again = await prepare(deps, caller, wanted, { fresh: true });
      return again.kind === 'allowed' ? send(deps, caller, wanted, again, false) : again;
    }
    const isAnswer = error instanceof ToolServerError && error.isAnswer;
    lease.release(isAnswer ? 'keep' : 'end');
    const hasArrived = error instanceof ToolServerError && error.mayHaveArrived;
    const uncertain = hasArrived && !isAnswer && !isRepeatable(policy);
    return failedCall(error, { secrets: session.secrets(), uncertain });
  }
  lease.release('keep');
  const unusable = await resultFault(policy, result);
  return { kind: 'answered', result, unusable, secrets: session.secrets() };
}

function failedCall(
  error: unknown,
  { secrets, uncertain }: Pick<FailedCall, 'secrets' | 'uncertain'>,
): FailedCall | RefusedCall {
  // The credentials are read before the request is made, so nothing was sent.
  if (error instanceof AppError) return refused('connection_unusable');
  if (!(error instanceof ToolServerError)) throw error;
  return { kind: 'failed', error, uncertain, secrets };
}
