import type { CallToolResult } from '@modelcontextprotocol/client';
import {
  toolServerOf,
  type ConnectionSecrets,
  type CredentialSource,
} from '#core/connections/index.ts';
import {
  findTool,
  ToolServerError,
  type FoundTool,
  type LeasedSession,
  type ToolServerErrorKind,
  type ToolSessions,
} from '#core/mcp/index.ts';
import { AppError } from '#lib/errors.ts';
import type { PolicyDeps } from './change-policy.ts';
import { decideCall, type AllowedCall, type MaybeSent, type WantedCall } from './decide-call.ts';
import { resultFault } from './output-schema.ts';
import { isRepeatable, type ToolPolicy } from './policy.ts';
import { refused, type Refusal, type RefusalReason } from './refusal.ts';
import { retirePolicy } from './retire.ts';
import type { ToolTarget } from './target.ts';

export interface ToolCallDeps extends PolicyDeps {
  readonly toolSessions: ToolSessions;
  readonly connectionSecrets: ConnectionSecrets;
  readonly credentials: CredentialSource;
}

/** The caller of a tool: a run. Its calls share the sessions that servers remember. */
export interface Caller {
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** A call that may be made, on a session that waits for it. It is either sent or discarded. */
export interface PreparedCall {
  readonly kind: 'prepared';
  /** The policy that the decision rests on. */
  readonly policy: ToolPolicy;
  /** The values that authenticate the call, to be kept out of what is recorded. */
  readonly secrets: readonly string[];
  send(): Promise<SentCall>;
  discard(): void;
}

export type SentCall = AnsweredCall | FailedCall | Refusal;

export interface AnsweredCall {
  readonly kind: 'answered';
  readonly result: CallToolResult;
  /** The reason why the result cannot be relied on, in the service's own words; the call was made all the same. */
  readonly unusable: string | undefined;
  readonly secrets: readonly string[];
}

export interface FailedCall {
  readonly kind: 'failed';
  readonly error: ToolServerError;
  /** The call may have taken effect, and may do harm when it is made again. */
  readonly uncertain: boolean;
  readonly secrets: readonly string[];
}

/** The limit of the call itself; what comes before it has a shorter one. */
const CALL_TIMEOUT_MS = 120_000;
const PREPARE_TIMEOUT_MS = 30_000;

/**
 * Decides whether a call may be made, and prepares it. A tool that is not, or no longer, what was confirmed falls back
 * to disabled.
 */
export async function prepareCall(
  deps: ToolCallDeps,
  caller: Caller,
  wanted: WantedCall,
): Promise<PreparedCall | FailedCall | Refusal | MaybeSent> {
  const held: HeldSession = { lease: undefined };
  let live: LiveTool | undefined;
  let decision;
  try {
    decision = await decideCall(wanted, async (target) => {
      live = await findLive(deps, caller, target, held);
      return live;
    });
  } catch (error) {
    held.lease?.release('end');
    return failedCall(error, { secrets: held.lease?.session.secrets() ?? [], uncertain: false });
  }
  if (decision.kind === 'allowed') return preparedCall(decision, caller.signal);
  held.lease?.release('keep');
  if (decision.kind === 'refused' && RETIRING.has(decision.reason) && wanted.target !== undefined) {
    await retirePolicy(deps, wanted.target.policy, live?.definition);
  }
  return decision;
}

/** The reasons that say something of the tool itself, and not of this one call. */
const RETIRING: ReadonlySet<RefusalReason> = new Set(['tool_changed', 'tool_vanished']);

/** The session of a call, from when there is one. */
interface HeldSession {
  lease: LeasedSession | undefined;
}

/** A tool as its server defines it now, and the session to call it on. */
interface LiveTool extends FoundTool {
  readonly lease: LeasedSession;
}

/**
 * Asks the server for the tool: on a session of its own once more where the first one failed for want of the server.
 */
async function findLive(
  deps: ToolCallDeps,
  { runId, signal }: Caller,
  { policy, connection }: ToolTarget,
  held: HeldSession,
): Promise<LiveTool | undefined> {
  const limits = { signal, timeoutMs: PREPARE_TIMEOUT_MS };
  const key = {
    server: toolServerOf(deps, connection),
    version: `${connection.id} ${connection.updatedAt.getTime()}`,
    holder: runId,
  };
  const find = async (fresh: boolean) => {
    const lease = await deps.toolSessions.lease(key, limits, { fresh });
    held.lease = lease;
    const found = await findTool(lease.session, policy.toolName, limits);
    return found === undefined ? undefined : { ...found, lease };
  };
  try {
    return await find(false);
  } catch (error) {
    if (signal.aborted || !mayPass(error, held.lease)) throw error;
    held.lease?.release('end');
    held.lease = undefined;
    return find(true);
  }
}

/**
 * Tells whether another try may go better: a server may have forgotten the session, or have closed an idle connection
 * at the moment at which it was used. To ask for a tool changes nothing, so it can be asked again whatever has arrived.
 */
function mayPass(error: unknown, lease: LeasedSession | undefined): boolean {
  if (lease?.reused === true) return true;
  return error instanceof ToolServerError && PASSING.has(error.kind);
}

const PASSING: ReadonlySet<ToolServerErrorKind> = new Set(['unreachable', 'broken']);

function preparedCall(
  { policy, args, found }: AllowedCall<LiveTool>,
  signal: AbortSignal,
): PreparedCall {
  const { lease, tool } = found;
  const { session } = lease;
  return {
    kind: 'prepared',
    policy,
    secrets: session.secrets(),
    discard: () => lease.release('keep'),
    async send() {
      let result;
      try {
        result = await session.callTool(tool, args, { signal, timeoutMs: CALL_TIMEOUT_MS });
      } catch (error) {
        const isRefusal = error instanceof ToolServerError && error.kind === 'protocol';
        lease.release(isRefusal ? 'keep' : 'end');
        const hasArrived = error instanceof ToolServerError && error.mayHaveArrived;
        const uncertain = hasArrived && !isRefusal && !isRepeatable(policy);
        return failedCall(error, { secrets: session.secrets(), uncertain });
      }
      lease.release('keep');
      const unusable = await resultFault(policy, result);
      return { kind: 'answered', result, unusable, secrets: session.secrets() };
    },
  };
}

function failedCall(
  error: unknown,
  { secrets, uncertain }: Pick<FailedCall, 'secrets' | 'uncertain'>,
): FailedCall | Refusal {
  // Credentials come before the request itself, so nothing was sent.
  if (error instanceof AppError) return refused('connection_unusable');
  if (!(error instanceof ToolServerError)) throw error;
  return { kind: 'failed', error, uncertain, secrets };
}
