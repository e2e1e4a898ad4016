import { jsonAnswer } from './json-answer.ts';
import type { ChatRequest } from './request.ts';
import { finishCall } from './finish.ts';
import { report } from './report.ts';
import { chooseCalls } from './tool-calls.ts';
import type { ToolCall } from './tool-calls.ts';

/** One turn of a model. */
export interface Reply {
  text: string | null;
  reasoning?: string;
  calls: readonly ToolCall[];
  finishReason: string;
}

/**
 * Makes the fixture's own reply: it calls offered tools that have no result yet, else it writes a report, or the JSON
 * that is wanted, and, where it is offered `finish`, states the outcome. The same request always gets the same reply
 * (on the same day, where it names none).
 */
export function naturalReply(request: ChatRequest, reasons: boolean): Reply {
  const calls = chooseCalls(request);
  if (calls.length > 0) return callsReply(calls);
  const finish = finishCall(request);
  const text = jsonAnswer(request) ?? report(request);
  return {
    ...(finish === undefined ? textReply(text) : callsReply([finish], text)),
    ...(reasons
      ? { reasoning: 'The task is clear; I write the report from what I was given.' }
      : {}),
  };
}

export function callsReply(calls: readonly ToolCall[], text: string | null = null): Reply {
  return {
    text,
    calls,
    finishReason: 'tool_calls',
  };
}

export function textReply(text: string): Reply {
  return { text, calls: [], finishReason: 'stop' };
}
