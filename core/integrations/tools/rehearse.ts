import { sampleOf } from '#core/clients/json-schemas/index.ts';
import { prepare, type Caller, type FailedCall, type ToolCallDeps } from './call.ts';
import { resultFault, type MaybeSent, type RefusedCall, type WantedCall } from './judge-call.ts';
import { checkedSchemas, type ToolPolicy } from './policy.ts';

/** The answer to a call that was not made: a value of the tool's output schema, its last real answer, or nothing. */
export const STAND_INS = ['schema', 'earlier_answer', 'nothing'] as const;
export type StandIn = (typeof STAND_INS)[number];

/** A call that a rehearsal was allowed to make, and did not send. */
export interface StagedCall {
  readonly kind: 'staged';
  readonly standIn: StandIn;
  /** The text of the stand-in; empty for `nothing`. */
  readonly text: string;
  readonly secrets: readonly string[];
}

/**
 * Judges a call like any other, by its policy, its arguments and the live definition of its tool, but does not send it.
 * @param lastAnswer reads the last real answer of the tool; undefined if there is none
 */
export async function stageCall(
  deps: ToolCallDeps,
  caller: Caller,
  wanted: WantedCall,
  lastAnswer: (policy: ToolPolicy) => Promise<string | undefined>,
): Promise<StagedCall | FailedCall | RefusedCall | MaybeSent> {
  const decided = await prepare(deps, caller, wanted, { fresh: false });
  if (decided.kind !== 'allowed') return decided;
  const { policy, found } = decided;
  const secrets = found.lease.session.secrets();
  found.lease.release('keep');
  const sample = await fittingSample(policy);
  if (sample !== undefined) return { kind: 'staged', standIn: 'schema', text: sample, secrets };
  const earlier = await lastAnswer(policy);
  if (earlier !== undefined) return { kind: 'staged', standIn: 'earlier_answer', text: earlier, secrets };
  return { kind: 'staged', standIn: 'nothing', text: '', secrets };
}

async function fittingSample(policy: ToolPolicy): Promise<string | undefined> {
  const { outputSchema } = checkedSchemas(policy);
  if (outputSchema === null) return undefined;
  for (const withOptional of [true, false]) {
    const structuredContent = sampleOf(outputSchema, withOptional);
    if ((await resultFault(policy, { content: [], structuredContent })) === undefined) {
      return JSON.stringify(structuredContent);
    }
  }
  return undefined;
}
