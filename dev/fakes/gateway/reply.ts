import { createHash } from 'node:crypto';

import { isJsonObject } from '#lib/json.ts';

import { exampleFor } from './example-arguments.ts';
import { promptOf, taskOf, textOf } from './request.ts';
import type { ChatMessage, ChatRequest } from './request.ts';

/** One turn of a model. */
export interface Reply {
  text: string | null;
  reasoning?: string;
  calls: readonly ToolCall[];
  finishReason: string;
}

export interface ToolCall {
  id: string;
  name: string;
  /** Usually JSON; a script may send any text. */
  arguments: string;
}

/**
 * Makes the fixture's own reply. The reply calls offered tools until each has a result. Then it is a report, or the
 * requested JSON, and states the outcome if `finish` is offered. The same request always gets the same reply; a report
 * that names the day changes with the day.
 */
export function naturalReply(request: ChatRequest, reasons: boolean): Reply {
  return {
    ...turn(request),
    ...(reasons ? { reasoning: 'The task is clear; I do it from what I was given.' } : {}),
  };
}

function turn(request: ChatRequest): Reply {
  const calls = chooseCalls(request);
  if (calls.length > 0) return callsReply(calls);
  const finish = finishCall(request);
  const text = jsonAnswer(request) ?? report(request);
  return finish === undefined ? textReply(text) : callsReply([finish], text);
}

/** Names the tools that a request lets the model call. */
export function offeredTools({ tools, tool_choice: choice }: ChatRequest): readonly string[] {
  return choice === 'none' ? [] : (tools ?? []).map((tool) => tool.function.name);
}

/**
 * Makes the reply of a server whose grammar applies the schema to the whole output, so that the model can write no
 * call; undefined without a schema.
 */
export function schemaReply(request: ChatRequest): Reply | undefined {
  const schema = request.response_format?.json_schema?.schema;
  return schema == null ? undefined : textReply(dataFor(request, schema));
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

/** The tool by which a run states its outcome. */
export const FINISH = 'finish';

/**
 * Chooses the calls of the first turn: every offered tool that the task names, else the first one, as `tool_choice`
 * permits. Once there is a tool result, there are no more calls.
 */
function chooseCalls(request: ChatRequest): ToolCall[] {
  const { tool_choice: choice, messages } = request;
  const tools = (request.tools ?? []).filter((tool) => tool.function.name !== FINISH);
  if (tools.length === 0 || choice === 'none') return [];
  if (messages.some(({ role }) => role === 'tool')) return [];
  const task = taskOf(request);
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

/** Makes a call. Its id is the same for the same request, and unique in the conversation. */
export function toolCall(request: ChatRequest, index: number, name: string, args: string): ToolCall {
  const seed = `${request.messages.length}/${index}/${name}/${args}`;
  const digest = createHash('sha256').update(seed).digest('hex').slice(0, 16);
  return { id: `call_${digest}`, name, arguments: args };
}

/**
 * Makes the call that states the outcome, if `finish` is offered: the outcome in the task's line `FINISH <outcome>
 * <summary>`, else `done`, with the result if the tool takes one. `FINISH never` prevents the call, and `FINISH late`
 * delays it until the reminder.
 */
function finishCall(request: ChatRequest): ToolCall | undefined {
  const offered = request.tools?.find((tool) => tool.function.name === FINISH);
  if (offered === undefined || request.tool_choice === 'none') return undefined;
  const [, word = 'done', rest = ''] = /^FINISH (\w+) ?(.*)$/m.exec(taskOf(request)) ?? [];
  if (word === 'never') return undefined;
  if (word === 'late' && !promptOf(request).includes('You ended without calling')) return undefined;
  const outcome = word === 'late' ? 'done' : word;
  const summary = rest.trim() || 'The report is written.';
  const form = propertyOf(offered.function.parameters, 'result');
  const result = form === undefined ? '' : `,"result":${dataFor(request, form)}`;
  const stated = JSON.stringify({ outcome, summary }).slice(0, -1);
  return toolCall(request, 0, FINISH, `${stated}${result}}`);
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return isJsonObject(properties) ? properties[name] : undefined;
}

/** Makes the fixture's JSON for the schema in the request or in its text; undefined without a schema. */
function jsonAnswer(request: ChatRequest): string | undefined {
  const schema = request.response_format?.json_schema?.schema ?? schemaIn(promptOf(request));
  return isJsonObject(schema) ? dataFor(request, schema) : undefined;
}

/** Returns the JSON of the task's line `DATA <json>`, else an example of the schema. */
function dataFor(request: ChatRequest, schema: unknown): string {
  const [, data] = /^DATA (.+)$/m.exec(taskOf(request)) ?? [];
  return data ?? JSON.stringify(exampleFor(schema));
}

function schemaIn(prompt: string): unknown {
  const [, json] = /JSON Schema:\n\n(\{.*\})$/m.exec(prompt) ?? [];
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * Writes a short report of the parts of the prompt: the task's first lines, the attached skills, the date and the tool
 * results. A fingerprint in the report changes with any letter of the prompt.
 */
function report(request: ChatRequest): string {
  const prompt = promptOf(request);
  const lines = taskOf(request)
    .split('\n')
    .map((line) => line.replace(/^[#>*\s-]+/, '').trim())
    .filter(Boolean);
  const skills = [...prompt.matchAll(/^## Skill: (.+)$/gm)].map(([, name]) => name);
  const date = /\b\d{4}-\d{2}-\d{2}\b/.exec(prompt)?.[0] ?? new Date().toISOString().slice(0, 10);
  const results = toolResults(request.messages);

  return [
    `# ${cut(lines[0] ?? 'Untitled task', 80)}`,
    '',
    `Report of ${date}.`,
    ...(lines.length > 1 ? ['', ...lines.slice(1, 4).map((line) => `> ${cut(line, 120)}`)] : []),
    ...(skills.length > 0 ? ['', `Skills applied: ${skills.join(', ')}.`] : []),
    ...(results.length > 0 ? ['', 'What the tools said:', ...results] : []),
    '',
    `Prompt ${createHash('sha256').update(prompt).digest('hex').slice(0, 12)}, ${prompt.length} characters.`,
  ].join('\n');
}

function toolResults(messages: readonly ChatMessage[]): string[] {
  const names = new Map(
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call.function.name] as const)),
  );
  return messages
    .filter(({ role }) => role === 'tool')
    .map((message) => {
      const name = names.get(message.tool_call_id ?? '') ?? 'unknown tool';
      return `- ${name}: ${cut(textOf(message).replaceAll(/\s+/g, ' '), 200)}`;
    });
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
