import { createHash } from 'node:crypto';

import { exampleFor } from './example-arguments.ts';
import { textOf } from './request.ts';
import type { ChatRequest } from './request.ts';

export interface ToolCall {
  id: string;
  name: string;
  /** JSON, as a rule; a script may send anything. */
  arguments: string;
}

/** The tool by which a run states its outcome; finish.ts calls it. */
export const FINISH = 'finish';

/**
 * Chooses the calls of the first turn: every offered tool that the task names, else the first one. The task is the
 * user's first message; later ones may list every tool there is. Once there is a tool result, it calls none.
 * `tool_choice` is respected.
 */
export function chooseCalls(request: ChatRequest): ToolCall[] {
  const { tool_choice: choice, messages } = request;
  const tools = (request.tools ?? []).filter((tool) => tool.function.name !== FINISH);
  if (tools.length === 0 || choice === 'none') return [];
  if (messages.some(({ role }) => role === 'tool')) return [];
  const first = messages.find(({ role }) => role === 'user');
  const task = first === undefined ? '' : textOf(first);
  const forced = typeof choice === 'object' ? choice?.function.name : undefined;
  const named = tools.filter(({ function: { name } }) =>
    forced === undefined ? task.includes(name) : name === forced,
  );
  const chosen = named.length > 0 ? named : tools.slice(0, 1);
  return (request.parallel_tool_calls === false ? chosen.slice(0, 1) : chosen).map(
    ({ function: { name, parameters } }, index) =>
      toolCall(request, index, name, JSON.stringify(exampleFor(parameters))),
  );
}

/** Makes a call whose id is the same for the same request and unique in the conversation. */
export function toolCall(
  request: ChatRequest,
  index: number,
  name: string,
  args: string,
): ToolCall {
  const seed = `${request.messages.length}/${index}/${name}/${args}`;
  const digest = createHash('sha256').update(seed).digest('hex').slice(0, 16);
  return { id: `call_${digest}`, name, arguments: args };
}
