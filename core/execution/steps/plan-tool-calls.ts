import type { ModelMessage } from 'ai';
import type { ToolCallRequest } from '#core/clients/gateway/index.ts';
import {
  FINISH,
  type OfferedTool,
  type PendingTool,
  type PlannedCall,
  noResult,
} from '#core/integrations/tools/index.ts';
import { readFinish, type EndRule, type Finish } from '#core/authoring/outcomes/index.ts';
import { argumentsFault } from '#lib/exact-json/call-arguments.ts';
import { cut } from '#lib/text.ts';
import type { ModelResponse } from './model-call.ts';
import { shownArguments } from './tool-step-end.ts';

/** Limit of calls for one response; the model gets a refusal for each further call. */
const MAX_CALLS_OF_ANSWER = 32;

export interface CallPlan {
  /** The assistant's part of the transcript, with a result for each call that is not made. */
  readonly messages: readonly ModelMessage[];
  /** The steps that follow: first the calls to be made, in order, then the calls that were refused at once. */
  readonly steps: readonly PlannedCall[];
  /** Names of the calls to be made. */
  readonly names: readonly string[];
}

/**
 * Decides for each call of a response whether it is made or refused; every call gets a result. A call of `finish` is
 * never made: either it has ended the run, or it is refused.
 */
export function planToolCalls(
  response: ModelResponse,
  run: EndRule & { readonly tools: readonly OfferedTool[] },
): CallPlan {
  const { tools } = run;
  const byName = new Map(tools.map((each) => [each.name, each]));
  const finish = finishIn(response, run);
  const toMake: CallPlan['steps'][number][] = [];
  const refused: CallPlan['steps'][number][] = [];
  const told: ToldRefusal[] = [];
  for (const call of response.toolCalls) {
    const target = byName.get(call.name);
    const refuse = (why: string, shown: Partial<PlannedCall> = {}) => {
      const error = `Refused: ${why}.`;
      told.push({ call, error });
      refused.push({ ...pending(call, target), ...shown, rejected: true, error });
    };
    if (call.invalid) {
      refuse(target === undefined ? 'the run has no tool of this name' : unusableArguments(call.input));
    } else if (finish.kind !== 'absent' && call.name === FINISH) {
      if (finish.kind === 'refused') refuse(finish.why, shownArguments(call.input, []));
    } else if (target === undefined || toMake.length >= MAX_CALLS_OF_ANSWER) {
      refuse(`more than ${MAX_CALLS_OF_ANSWER} calls in one answer`);
    } else {
      toMake.push({ ...pending(call, target), error: null });
    }
  }
  return {
    messages: told.length === 0 ? response.messages : [...response.messages, refusalOf(told)],
    steps: [...toMake, ...refused],
    names: toMake.map(({ name }) => name),
  };
}

function unusableArguments(input: unknown): string {
  return (typeof input === 'string' ? argumentsFault(input) : undefined) ?? 'the arguments are not valid JSON';
}

/** A refusal, which the model gets as the result of its call. */
interface ToldRefusal {
  readonly call: ToolCallRequest;
  readonly error: string;
}

function pending(call: ToolCallRequest, target: OfferedTool | undefined): PendingTool {
  const shown = target === undefined ? shownArguments(call.input, []) : { arguments: null, argumentsLength: null };
  return {
    ...noResult(),
    ...shown,
    isError: null,
    callId: call.callId,
    name: cut(call.name, 200),
    toolName: target?.toolName ?? null,
    connectionId: target?.connectionId ?? null,
    connectionName: target?.connectionName ?? null,
    policyId: target?.policyId ?? null,
    input: call.input,
    rejected: false,
  };
}

function refusalOf(refusals: readonly ToldRefusal[]): ModelMessage {
  return {
    role: 'tool',
    content: refusals.map(({ call: { callId, name }, error }) => ({
      type: 'tool-result' as const,
      toolCallId: callId,
      toolName: name,
      output: { type: 'error-text' as const, value: `${error} The call was not made.` },
    })),
  };
}

/** Reads the call of `finish` in a response; `absent` in a run without `finish`. */
export function finishIn(
  { toolCalls }: Pick<ModelResponse, 'toolCalls'>,
  run: EndRule & { readonly tools: readonly Pick<OfferedTool, 'name'>[] },
): Finish {
  const isOffered = run.tools.some(({ name }) => name === FINISH);
  return isOffered ? readFinish(toolCalls, run) : { kind: 'absent' };
}
