import type { ModelMessage } from 'ai';
import type { OfferedTool } from '#core/tools/index.ts';
import { isJsonObject } from '#lib/json.ts';
import type { ModelResponse } from './model-call.ts';
import type { StepWarning } from '#core/runs/index.ts';

/** Tokens below which an estimate is too rough to say that a prompt was cut. */
const WORTH_COMPARING = 1_000;

/** Returns what a response gives cause to warn of. @param sentTokens the estimate of what was sent */
export function responseWarnings(
  response: ModelResponse,
  tools: readonly Pick<OfferedTool, 'name'>[],
  sentTokens: number,
): StepWarning[] {
  const { usage, call } = response;
  // What an account's provider counts goes through its own protocol.
  const isCut =
    call === undefined && sentTokens > WORTH_COMPARING && usage.inputTokens < sentTokens / 2;
  return [
    ...(isCut ? (['prompt_cut'] as const) : []),
    ...(isCallAsText(response, tools) ? (['call_as_text'] as const) : []),
  ];
}

/** The marks by which model families write calls that their server should have parsed. */
const CALL_MARKS =
  /<tool_call>|<\|tool_call|\[TOOL_CALLS\]|<function=|<\|python_tag\|>|<invoke name=|```tool_code|<｜tool▁call/;

/** Returns true for a response whose text is a call of one of the tools. */
function isCallAsText(
  { text, toolCalls }: ModelResponse,
  tools: readonly Pick<OfferedTool, 'name'>[],
): boolean {
  if (tools.length === 0 || toolCalls.length > 0) return false;
  const named = tools.some(({ name }) => text.includes(name));
  if (!named) return false;
  if (CALL_MARKS.test(text)) return true;
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return false;
  try {
    const value: unknown = JSON.parse(trimmed);
    return (
      isJsonObject(value) &&
      tools.some(({ name }) => name === value['name']) &&
      ('arguments' in value || 'parameters' in value)
    );
  } catch {
    return false;
  }
}

/** Asks a model, once, to make the call that it wrote; kept with the step that it follows. */
export const CALL_REQUEST = {
  role: 'user',
  content:
    'You wrote a tool call as text, so it was not made. Call the tool through the interface for tool calls, or write the result without it.',
} as const satisfies ModelMessage;

export function wasAskedToCall(transcript: readonly ModelMessage[]): boolean {
  return transcript.some(
    ({ role, content }) => role === CALL_REQUEST.role && content === CALL_REQUEST.content,
  );
}
