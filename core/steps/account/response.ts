import type { ModelMessage } from 'ai';
import type { IssuedCall } from '#core/model-calls/index.ts';
import { storable } from '#lib/database/index.ts';
import type { RunResult } from '#lib/envelope/index.ts';
import { assistantMessages } from '../gateway/caller.ts';
import { asStored, type ModelCall, type ModelResponse } from '../model-call.ts';
import { usageOf } from '../model-usage.ts';

/**
 * Reads the neutral response of a session as a response of the gateway is read.
 * @param secret the call's credential, removed from the response in case the provider repeats it
 */
export function responseOf(
  input: ModelCall,
  result: RunResult,
  call: IssuedCall,
  secret: string,
): ModelResponse {
  const { text, messages, toolCalls, finishReason, usage } = without(secret, result);
  return {
    text: storable(text),
    messages: assistantMessages(
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the session's model library made them, and the next step's checks them
      asStored(messages) as unknown as readonly ModelMessage[],
      NOTHING_BEYOND,
      new Set(toolCalls.flatMap(({ callId, invalid }) => (invalid ? [callId] : []))),
    ),
    toolCalls: toolCalls.map(({ callId, name, input: args, invalid }) => ({
      callId,
      name,
      input: asStored(args),
      invalid,
    })),
    finishReason,
    usage: usageOf(input, {
      stated: usage,
      texts: [text],
      calls: toolCalls.map(({ name, input: args }) => ({ name, args })),
    }),
    call,
  };
}

/** The session's own library keeps reasoning among the parts of a message. */
const NOTHING_BEYOND = { reasoning: {}, thinking: '' };

function without(secret: string, result: RunResult): RunResult {
  const text = JSON.stringify(result);
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (!text.includes(escaped)) return result;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text within texts is replaced by another
  return JSON.parse(text.replaceAll(escaped, '[redacted]')) as RunResult;
}
