import { promptOf, textOf } from './request.ts';
import type { ChatRequest } from './request.ts';
import { FINISH, toolCall } from './tool-calls.ts';
import type { ToolCall } from './tool-calls.ts';

/**
 * Makes the call by which the fixture states the outcome of a run that is offered `finish`: what a line `FINISH
 * <outcome> <summary>` of the task says, else `done`. With `FINISH never` it does not call it, and with `FINISH late`
 * only after the reminder.
 */
export function finishCall(request: ChatRequest): ToolCall | undefined {
  const offered = request.tools?.some((tool) => tool.function.name === FINISH) ?? false;
  if (!offered || request.tool_choice === 'none') return undefined;
  const task = request.messages.find(({ role }) => role === 'user');
  const [, word = 'done', rest = ''] =
    /^FINISH (\w+) ?(.*)$/m.exec(task === undefined ? '' : textOf(task)) ?? [];
  if (word === 'never') return undefined;
  if (word === 'late' && !promptOf(request).includes('You ended without calling')) return undefined;
  const outcome = word === 'late' ? 'done' : word;
  const summary = rest.trim() || 'The report is written.';
  return toolCall(request, 0, FINISH, JSON.stringify({ outcome, summary }));
}
