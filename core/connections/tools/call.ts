import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/client';
import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Connection } from '../connection.ts';
import { ToolServerFault } from '../mcp/fault.ts';
import type { LeasedSession, ToolSessions } from '../mcp/sessions.ts';
import { toolDefinition } from './definition.ts';
import { findTool } from './list-tools.ts';
import { schemaFault, SchemaError } from './json-schema.ts';
import { answerFault, uncheckable } from './output-schema.ts';
import type { ToolPolicy } from './policy.ts';
import { isConfirmed, retirePolicy } from './retire.ts';

export interface ToolCallDeps {
  readonly database: Database;
  readonly toolSessions: ToolSessions;
}

export interface ToolCall {
  readonly runId: string;
  readonly connection: Connection;
  readonly policy: ToolPolicy;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /**
   * Called when everything is checked, right before the call goes out; the call is made only when it answers `go`.
   * What it writes is how a later attempt knows that the call may have been carried out.
   */
  readonly onSending: (
    secrets: readonly string[],
  ) => Promise<'go' | 'not_automatic' | 'superseded'>;
}

export type ToolCallOutcome = { readonly secrets: readonly string[] } & (
  | {
      readonly kind: 'answered';
      readonly result: CallToolResult;
      /** Why the result cannot be relied on, in a sentence of ours; the call was made all the same. */
      readonly resultFault: string | undefined;
    }
  /** Nothing was sent; the sentence is for the model and the run's detail. */
  | { readonly kind: 'refused'; readonly why: string }
  /** `uncertain`: the call may have been carried out all the same. */
  | { readonly kind: 'failed'; readonly fault: ToolServerFault; readonly uncertain: boolean }
  /** `onSending` said no: another attempt was faster. */
  | { readonly kind: 'superseded' }
);

/** For the whole call; the parts before it have their own, shorter limits. */
const CALL_TIMEOUT_MS = 120_000;
const PREPARE_TIMEOUT_MS = 30_000;

/** Calls a tool when, at this moment, it is what was confirmed and the arguments are within what was confirmed. */
export async function callConfirmedTool(
  deps: ToolCallDeps,
  call: ToolCall,
): Promise<ToolCallOutcome> {
  const refused = (why: string): ToolCallOutcome => ({ kind: 'refused', why, secrets: [] });
  const { policy, connection, args, signal } = call;
  if (policy.state !== 'automatic') return refused(NOT_AUTOMATIC);
  if (connection.state !== 'ready') return refused('the connection of this tool is not ready');
  const fault = argumentFault(policy, args) ?? uncheckable(policy);
  if (fault !== undefined) return refused(fault);

  let lease: LeasedSession | undefined;
  let sent = false;
  try {
    const prepared = await prepare(deps, call);
    lease = prepared.lease;
    const { session } = lease;
    const live = prepared.tool === undefined ? undefined : toolDefinition(prepared.tool);
    if (prepared.tool === undefined || live === undefined || !isConfirmed(policy, live)) {
      lease.release('keep');
      await retirePolicy(deps.database, policy, live);
      return refused(live === undefined ? VANISHED : CHANGED);
    }
    const verdict = await call.onSending(session.secrets());
    if (verdict !== 'go') {
      lease.release('keep');
      return verdict === 'superseded' ? { kind: verdict, secrets: [] } : refused(NOT_AUTOMATIC);
    }
    sent = true;
    const limits = { signal, timeoutMs: CALL_TIMEOUT_MS };
    const result = await session.callTool(prepared.tool, args, limits);
    lease.release('keep');
    const resultFault = answerFault(policy, result);
    return { kind: 'answered', result, resultFault, secrets: session.secrets() };
  } catch (error) {
    const secrets = lease?.session.secrets() ?? [];
    lease?.release(error instanceof ToolServerFault && error.kind === 'protocol' ? 'keep' : 'end');
    // Credentials come before the request itself, so nothing was sent.
    if (error instanceof AppError) return refused('the connection of this tool cannot be used now');
    if (!(error instanceof ToolServerFault)) throw error;
    const uncertain = sent && error.mayHaveArrived && error.kind !== 'protocol';
    return { kind: 'failed', fault: error, uncertain, secrets };
  }
}

export const NOT_AUTOMATIC = 'nobody has confirmed that this tool may be used without being asked';
const CHANGED =
  'the server has changed this tool since it was confirmed; it is disabled until somebody looks at it';
const VANISHED = 'the server no longer has this tool';

/** A session, and the tool as the server defines it now. A session the server has forgotten is replaced once. */
async function prepare(
  deps: ToolCallDeps,
  { runId, connection, policy, signal }: ToolCall,
): Promise<{ lease: LeasedSession; tool: ListToolsResult['tools'][number] | undefined }> {
  const limits = { signal, timeoutMs: PREPARE_TIMEOUT_MS };
  const key = { runId, connection };
  const lease = await deps.toolSessions.lease(key, limits);
  try {
    return { lease, tool: await findTool(lease.session, policy.toolName, limits) };
  } catch (error) {
    lease.release('end');
    if (!lease.reused || signal.aborted) throw error;
    const fresh = await deps.toolSessions.lease(key, limits, { fresh: true });
    try {
      return { lease: fresh, tool: await findTool(fresh.session, policy.toolName, limits) };
    } catch (again) {
      fresh.release('end');
      throw again;
    }
  }
}

/** What is wrong with the arguments by the server's schema and by the policy's, or undefined. */
function argumentFault(
  { inputSchema, argumentSchema }: ToolPolicy,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  try {
    const own = schemaFault(inputSchema, args);
    if (own !== undefined) return `the arguments do not fit the tool: ${own}`;
    const narrowed = argumentSchema === null ? undefined : schemaFault(argumentSchema, args);
    return narrowed === undefined
      ? undefined
      : `the arguments are outside of what was confirmed for this routine: ${narrowed}`;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return 'the arguments could not be checked against the schema of the tool';
  }
}
