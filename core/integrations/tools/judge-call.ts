import type { ToolResult } from '#core/clients/mcp/index.ts';
import {
  assertUsableSchema,
  SchemaError,
  schemaFault,
  SchemaBusyError,
  schemaRefusal,
} from '#core/clients/json-schemas/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { Fault } from '#lib/errors.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { checkedSchemas, isRepeatable, type ToolPolicy, notReadOnly } from './policy.ts';
import { type ToolTarget, findPolicy } from './queries.ts';

/** A call that a model asks for, with its record. */
export interface WantedCall {
  /** Policy and connection of the call; undefined if one of them is gone. */
  readonly target: ToolTarget | undefined;
  readonly input: unknown;
  readonly runStartedAt: Date;
  /** Calls that the run has sent before under the same policy. */
  readonly earlierCalls: number;
  /** True when an earlier attempt recorded that it was about to send exactly this call. */
  readonly maybeSent: boolean;
  /** True when a person or a standing rule lets this call of a held tool through. */
  readonly permitted?: boolean;
}

/** A call that may be made: its policy, its arguments, and the tool as the server defines it. */
export interface AllowedCall<Found> {
  readonly kind: 'allowed';
  readonly policy: ToolPolicy;
  readonly args: JsonObject;
  readonly found: Found;
}

/** A call that an earlier attempt may have sent, and that must not be made again. */
export interface MaybeSent {
  readonly kind: 'maybe_sent';
}

/**
 * Decides whether a call may be made: a person confirmed the tool before the run began, the run keeps to the policy,
 * and the server still defines the tool as confirmed. No other code decides this; the statement that records the
 * sending checks that the decision is still valid.
 * @param findNow finds the tool at its server with the hash of its definition, after all other checks; undefined when
 * the tool is gone
 */
export async function judgeCall<Found extends { readonly hash: string }>(
  wanted: WantedCall,
  findNow: (target: ToolTarget) => Promise<Found | undefined>,
): Promise<AllowedCall<Found> | RefusedCall | MaybeSent> {
  const decided = await judgeOnRecord(wanted);
  if (decided.kind !== 'recorded') return decided;
  const { target, args } = decided;
  const { policy } = target;
  const found = await findNow(target);
  if (found === undefined) return refused('tool_vanished');
  if (found.hash !== policy.confirmedHash) return refused('tool_changed');
  return { kind: 'allowed', policy, args, found };
}

/** A call that the stored data allow; its server has not been asked. */
export interface RecordedCall {
  readonly kind: 'recorded';
  readonly target: ToolTarget;
  readonly args: JsonObject;
}

/**
 * Judges a call from stored data, without asking its server.
 * @param hasPlaces true for arguments with references to later results, which no schema can check yet
 */
export async function judgeOnRecord(
  wanted: WantedCall,
  { hasPlaces = false } = {},
): Promise<RecordedCall | RefusedCall | MaybeSent> {
  const target = confirmedInTime(wanted);
  if (wanted.maybeSent && (target === undefined || !isRepeatable(target.policy))) {
    return { kind: 'maybe_sent' };
  }
  if (target === undefined) return refused('not_automatic');
  const { policy, connection } = target;
  const { maxCallsPerRun } = policy;
  if (maxCallsPerRun !== null && wanted.earlierCalls >= maxCallsPerRun) {
    return refused('call_limit_reached', maxCallsPerRun);
  }
  const args = wanted.input;
  if (!isJsonObject(args)) return refused('arguments_no_object');
  if (connection.state !== 'ready') return refused('connection_not_ready');
  const unfit = hasPlaces ? undefined : await unfitArguments(policy, args).catch(uncheckable);
  if (unfit !== undefined) return unfit;
  if (!(await canCheckResult(policy))) return refused('result_uncheckable');
  return { kind: 'recorded', target, args };
}

/**
 * Returns the target if its policy was confirmed before the run began: nothing during a run extends the rights of the
 * run.
 */
function confirmedInTime({ target, runStartedAt, permitted = false }: WantedCall): ToolTarget | undefined {
  if (target === undefined || target.policy.state === 'disabled') return undefined;
  if (target.policy.state === 'hold' && !permitted) return undefined;
  const { confirmedAt } = target.policy;
  return confirmedAt !== null && confirmedAt <= runStartedAt ? target : undefined;
}

async function unfitArguments(policy: ToolPolicy, args: JsonObject): Promise<RefusedCall | undefined> {
  const { projectId, argumentSchema } = policy;
  const { inputSchema } = checkedSchemas(policy);
  const own = await schemaFault(projectId, inputSchema, args);
  if (own !== undefined) return refused('arguments_invalid', own);
  if (argumentSchema === null) return undefined;
  const narrowed = await schemaFault(projectId, argumentSchema, args);
  return narrowed === undefined ? undefined : refused('arguments_not_confirmed', narrowed);
}

function uncheckable(error: unknown): RefusedCall {
  if (!(error instanceof SchemaError)) throw error;
  return refused('arguments_uncheckable');
}

type Declares = Pick<ToolPolicy, 'projectId' | 'inputSchema' | 'outputSchema' | 'readable'>;

async function canCheckResult(policy: Declares): Promise<boolean> {
  const { outputSchema } = checkedSchemas(policy);
  if (outputSchema === null) return true;
  try {
    await assertUsableSchema(policy.projectId, outputSchema);
    return true;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return false;
  }
}

/**
 * Names the fault of a result by its tool's output schema; undefined if there is none. A tool that declares a schema
 * must send structured content that fits the schema (MCP, "Tools: Output Schema"). An error that the tool reports has
 * no result and is exempt.
 */
export async function resultFault(
  policy: Declares,
  { isError, structuredContent }: ToolResult,
): Promise<string | undefined> {
  const { outputSchema } = checkedSchemas(policy);
  if (outputSchema === null || isError === true) return undefined;
  if (structuredContent === undefined) {
    return 'the tool declares an output schema and its answer has no structured content';
  }
  try {
    return (await schemaFault(policy.projectId, outputSchema, structuredContent)) === undefined
      ? undefined
      : 'the structured content of the answer does not fit the output schema of the tool';
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return 'the answer could not be checked against the output schema of the tool';
  }
}

/** Reasons why a call is not made, in words for the model and for the step of the run. */
const REFUSALS = {
  not_automatic: 'no person has confirmed that this tool may be used without being asked',
  call_limit_reached: 'this tool may be called {} times in a run',
  arguments_no_object: 'the arguments have to be a JSON object',
  connection_not_ready: 'the connection of this tool is not ready',
  connection_unusable: 'the connection of this tool cannot be used now',
  arguments_invalid: 'the arguments do not fit the tool: {}',
  arguments_not_confirmed: 'the arguments are outside of what was confirmed for this routine: {}',
  arguments_uncheckable: 'the arguments could not be checked against the schema of the tool',
  result_uncheckable: 'the output schema of the tool is not usable, so its answer could not be checked',
  tool_changed: 'the server has changed this tool since it was confirmed; it is disabled until a person looks at it',
  tool_vanished: 'the server no longer has this tool',
  too_many_held: 'as many calls of this routine wait for a person as there may be ({}); none more is recorded',
  arguments_too_long: 'the arguments are too long for a call that waits for a person: at most {} characters of JSON',
  reference_unknown: '{}',
  reference_too_early: 'this call is made at once, and cannot use the result of an action that waits for a person',
} as const;
export type RefusalReason = keyof typeof REFUSALS;

/** A refused call. Nothing was sent to the server. */
export interface RefusedCall {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  readonly why: string;
}

/** @param detail fills the placeholder in the words of the refusal */
export function refused(reason: RefusalReason, detail: string | number = ''): RefusedCall {
  return { kind: 'refused', reason, why: REFUSALS[reason].replace('{}', () => String(detail)) };
}

/** A call with arguments that a person fixed beforehand. */
export interface FixedCall {
  readonly policyId: string;
  readonly arguments: JsonObject;
}

/**
 * Returns the reason why a routine may not make a fixed call of a read-only tool, from stored data alone. `callOnce`
 * judges the call again when it is made.
 * @throws {AppError} `rate_limited` while many other schemas of the project are being checked
 */
export async function fixedCallFault(
  db: Db,
  scope: { readonly projectId: string; readonly routineId: string },
  call: FixedCall,
): Promise<Fault | undefined> {
  const policy = await findPolicy(db, { ...scope, policyId: call.policyId });
  if (policy === undefined) {
    return { path: 'policyId', message: 'the routine has no such tool policy' };
  }
  if (policy.state !== 'automatic') {
    return { path: 'policyId', message: refused('not_automatic').why };
  }
  const writes = notReadOnly(policy);
  if (writes !== undefined) return { path: 'policyId', message: writes };
  const unfit = await judgeArguments(policy, call.arguments);
  return unfit === undefined ? undefined : { path: 'arguments', message: unfit.why };
}

/**
 * Returns the reason why a person's arguments do not fit a policy: the tool's own schema or the schema that narrows it.
 * @throws {AppError} `rate_limited` while many other schemas of the project are being checked
 */
export function judgeArguments(policy: ToolPolicy, args: JsonObject): Promise<RefusedCall | undefined> {
  return unfitArguments(policy, args).catch((error: unknown) => {
    if (error instanceof SchemaBusyError || !(error instanceof SchemaError)) throw schemaRefusal(error, 'arguments');
    return refused('arguments_uncheckable');
  });
}
