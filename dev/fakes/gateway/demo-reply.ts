import { DEMO_ROUTINES } from '../../demo/routines.ts';
import { READ_PAGE } from '../../demo/written.ts';
import { callsReply, FINISH, offeredTools, textReply, toolCall } from './reply.ts';
import type { Reply } from './reply.ts';
import { promptOf, taskOf } from './request.ts';
import type { ChatRequest } from './request.ts';

/**
 * Makes the reply to a run of a demo routine, in the words of its past runs; undefined for every other request. The
 * first words of the instructions identify the routine, because a person may change the rest.
 */
export function demoReply(request: ChatRequest): Reply | undefined {
  const task = taskOf(request);
  const routine = DEMO_ROUTINES.find(({ opening }) => task.startsWith(opening));
  if (routine === undefined) return undefined;
  const { reads, outcome, summary, text, data } = routine.write({ at: timeOf(request), age: 0 });
  const tools = offeredTools(request);
  const reader = tools.find((name) => name.endsWith(READ_PAGE));
  const hasRead = request.messages.some(({ role }) => role === 'tool');
  if (reader !== undefined && !hasRead) {
    const most = request.parallel_tool_calls === false ? 1 : reads.length;
    const calls = reads.slice(0, most).map((url, index) => readCall(request, index, reader, url));
    return callsReply(calls);
  }
  if (!tools.includes(FINISH)) return textReply(text ?? JSON.stringify(data));
  const stated = { outcome, summary, ...(data === undefined ? {} : { result: data }) };
  return callsReply([toolCall(request, 0, FINISH, JSON.stringify(stated))], text);
}

function readCall(request: ChatRequest, index: number, name: string, url: string) {
  return toolCall(request, index, name, JSON.stringify({ url }));
}

/** Reads the time of the run from the prompt. */
function timeOf(request: ChatRequest): Date {
  const [, at] = /^- Date and time: .*\((\S+Z)\)$/m.exec(promptOf(request)) ?? [];
  return at === undefined ? new Date() : new Date(at);
}
