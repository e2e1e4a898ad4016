import { jsonSchema, tool, type ModelMessage, type ToolSet } from 'ai';
import type { OfferedTool } from '#core/tools/index.ts';
import type { ModelResponse, ToolCallRequest } from './model-call.ts';
import { cut, SHOWN_LENGTH, type PendingTool, type PlannedCall } from './tool-record.ts';
import { noResult } from './tool-result.ts';

/** Calls made for one response; a model that asks for more is told that the rest were refused. */
const MAX_CALLS_OF_ANSWER = 32;

export interface CallPlan {
  /** The assistant's part of the transcript, with a result for each call that is not made. */
  readonly messages: readonly ModelMessage[];
  /** The steps that follow: first the calls to be made, in order, then those that were refused at once. */
  readonly steps: readonly PlannedCall[];
  /** Names of the calls to be made. */
  readonly names: readonly string[];
}

/** Returns the tools in the model library's form, without a way to run them: a step of its own makes each call. */
export function toolSet(offered: readonly OfferedTool[]): ToolSet {
  return Object.fromEntries(
    offered.map(({ name, description, inputSchema }) => [
      name,
      tool({
        ...(description === null ? {} : { description }),
        inputSchema: jsonSchema({ ...inputSchema }),
      }),
    ]),
  );
}

/** Decides for each call that a model asked for whether it is made or refused; every call gets a result. */
export function planToolCalls(response: ModelResponse, offered: readonly OfferedTool[]): CallPlan {
  const byName = new Map(offered.map((each) => [each.name, each]));
  const toMake: CallPlan['steps'][number][] = [];
  const refused: CallPlan['steps'][number][] = [];
  const excess: ToolCallRequest[] = [];
  for (const call of response.toolCalls) {
    const target = byName.get(call.name);
    if (call.invalid) {
      const known = target !== undefined;
      const why = known ? 'the arguments are not valid JSON' : 'the run has no tool of this name';
      refused.push({ ...pending(call, target), rejected: true, error: `Refused: ${why}.` });
    } else if (target === undefined || toMake.length >= MAX_CALLS_OF_ANSWER) {
      excess.push(call);
      refused.push({ ...pending(call, target), rejected: true, error: TOO_MANY });
    } else {
      toMake.push({ ...pending(call, target), error: null });
    }
  }
  return {
    messages: excess.length === 0 ? response.messages : [...response.messages, refusalOf(excess)],
    steps: [...toMake, ...refused],
    names: toMake.map(({ name }) => name),
  };
}

const TOO_MANY = `Refused: more than ${MAX_CALLS_OF_ANSWER} calls in one answer.`;

function pending(call: ToolCallRequest, target: OfferedTool | undefined): PendingTool {
  const text = JSON.stringify(call.input) ?? 'null';
  const shown =
    target === undefined
      ? { arguments: cut(text, SHOWN_LENGTH), argumentsLength: text.length }
      : { arguments: null, argumentsLength: null };
  return {
    ...noResult(),
    ...shown,
    isError: null,
    callId: call.callId,
    name: cut(call.name, 200),
    toolName: target?.toolName ?? null,
    connectionId: target?.connectionId ?? null,
    policyId: target?.policyId ?? null,
    input: call.input,
    rejected: false,
  };
}

function refusalOf(calls: readonly ToolCallRequest[]): ModelMessage {
  return {
    role: 'tool',
    content: calls.map(({ callId, name }) => ({
      type: 'tool-result' as const,
      toolCallId: callId,
      toolName: name,
      output: { type: 'error-text' as const, value: `${TOO_MANY} The call was not made.` },
    })),
  };
}
