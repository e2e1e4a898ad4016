import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { schemaFault, SchemaError } from './json-schema.ts';
import { canCheckResult } from './output-schema.ts';
import { isRepeatable, type ToolPolicy } from './policy.ts';
import { refused, type Refusal } from './refusal.ts';
import type { ToolTarget } from './target.ts';

/** A call that a model wants to make, with what is on record of it. */
export interface WantedCall {
  /** Undefined where the policy or its connection is gone. */
  readonly target: ToolTarget | undefined;
  readonly input: unknown;
  readonly runStartedAt: Date;
  /** The calls that the run has sent before under the same policy. */
  readonly earlierCalls: number;
  /** True when an earlier attempt has noted that it sends this very call. */
  readonly maybeSent: boolean;
}

/** A call that may be made: under this policy, with these arguments, of the tool as it was found. */
export interface AllowedCall<Found> {
  readonly kind: 'allowed';
  readonly policy: ToolPolicy;
  readonly args: JsonObject;
  readonly found: Found;
}

/** A call that an earlier attempt may have sent, and that may do harm when it is made again. */
export interface MaybeSent {
  readonly kind: 'maybe_sent';
}

/**
 * Decides whether a call may be made: a person has confirmed the tool before the run began, the run keeps to what was
 * confirmed, and the server still defines the tool as it did then. Nothing else decides that; right before the call is
 * sent, the statement that notes the sending only holds the decision against what has changed since.
 * @param findNow finds the tool at its server, with the hash of its definition, once everything else holds; undefined
 * when it is gone
 */
export async function decideCall<Found extends { readonly hash: string }>(
  wanted: WantedCall,
  findNow: (target: ToolTarget) => Promise<Found | undefined>,
): Promise<AllowedCall<Found> | Refusal | MaybeSent> {
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
  const unfit = await unfitArguments(policy, args).catch(uncheckable);
  if (unfit !== undefined) return unfit;
  if (!(await canCheckResult(policy))) return refused('result_uncheckable');

  const found = await findNow(target);
  if (found === undefined) return refused('tool_vanished');
  if (found.hash !== policy.confirmedHash) return refused('tool_changed');
  return { kind: 'allowed', policy, args, found };
}

/**
 * Returns the target where its policy was confirmed before the run began: nothing that happens during a run gives it
 * more.
 */
function confirmedInTime({ target, runStartedAt }: WantedCall): ToolTarget | undefined {
  if (target === undefined || target.policy.state !== 'automatic') return undefined;
  const { confirmedAt } = target.policy;
  return confirmedAt !== null && confirmedAt <= runStartedAt ? target : undefined;
}

/** Holds the arguments against the server's schema and the policy's. @throws {SchemaError} */
export async function unfitArguments(
  { projectId, inputSchema, argumentSchema }: ToolPolicy,
  args: JsonObject,
): Promise<Refusal | undefined> {
  const own = await schemaFault(projectId, inputSchema, args);
  if (own !== undefined) return refused('arguments_invalid', own);
  if (argumentSchema === null) return undefined;
  const narrowed = await schemaFault(projectId, argumentSchema, args);
  return narrowed === undefined ? undefined : refused('arguments_not_confirmed', narrowed);
}

function uncheckable(error: unknown): Refusal {
  if (!(error instanceof SchemaError)) throw error;
  return refused('arguments_uncheckable');
}
