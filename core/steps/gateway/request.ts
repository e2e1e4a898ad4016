import type { ModelAbilities } from '#core/models/index.ts';
import { isJsonObject } from '#lib/json.ts';

/** A message of OpenAI's chat completions. */
interface ChatMessage extends Readonly<Record<string, unknown>> {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[] | undefined;
}

/** The fields of a message in which servers send what a model reasoned, and in which some want it back. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/**
 * Fits the body of a request to what the model's server takes, and to what every server takes: roles that alternate, no
 * schema beside tools, no field that was refused before.
 */
export function adaptRequest(
  body: Record<string, unknown>,
  abilities: ModelAbilities,
): Record<string, unknown> {
  const { max_tokens: limit, response_format: format, messages, ...rest } = body;
  const tools = Array.isArray(rest['tools']) && rest['tools'].length > 0;
  const streaming = abilities.streaming !== false;
  const limitField = abilities.outputLimit ?? 'max_tokens';
  const oneCall = tools && abilities.parallelToolCalls === false;
  return {
    ...rest,
    messages: Array.isArray(messages) ? adaptMessages(messages, abilities, tools) : messages,
    ...(limit === undefined || limitField === 'none' ? {} : { [limitField]: limit }),
    // A grammar for the text leaves llama.cpp and vLLM no way to call a tool; Groq and Gemini refuse both together.
    ...(format === undefined || tools || abilities.structuredOutputs === false
      ? {}
      : { response_format: format }),
    ...(oneCall && abilities.parallelToolCallsField !== false
      ? { parallel_tool_calls: false }
      : {}),
    ...(streaming ? { stream: true } : {}),
    ...(streaming && abilities.streamUsage !== false
      ? { stream_options: { include_usage: true } }
      : {}),
  };
}

function adaptMessages(
  messages: readonly unknown[],
  abilities: ModelAbilities,
  tools: boolean,
): ChatMessage[] {
  let adapted = messages.filter(isMessage);
  if (abilities.reasoningBack === false) adapted = adapted.map(withoutReasoning);
  if (!tools && abilities.callsWithoutTools === false) adapted = adapted.map(callsAsText);
  else if (abilities.parallelToolCalls === false) adapted = splitTurns(adapted);
  if (abilities.systemRole === false) {
    adapted = adapted.map((each) => (each.role === 'system' ? { ...each, role: 'user' } : each));
  }
  return alternating(adapted);
}

/** The opening of a message is a text or, from the library, parts of text. */
function isMessage(value: unknown): value is ChatMessage {
  return isJsonObject(value) && typeof value['role'] === 'string';
}

function withoutReasoning(message: ChatMessage): ChatMessage {
  if (!REASONING_FIELDS.some((field) => field in message)) return message;
  const others = Object.entries(message).filter(
    ([name]) => !REASONING_FIELDS.some((field) => field === name),
  );
  return { role: message.role, ...Object.fromEntries(others) };
}

/**
 * Joins what a user says after a user or after a tool to the message before it: the chat templates of Gemma refuse the
 * one, those of Mistral both. An assistant's message without text and calls goes, as no template takes it.
 */
function alternating(messages: readonly ChatMessage[]): ChatMessage[] {
  const result: ChatMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    const isEmpty = !message.content && message.tool_calls === undefined;
    if (message.role === 'assistant' && isEmpty) continue;
    const joins = message.role === 'user' && (last?.role === 'user' || last?.role === 'tool');
    if (last === undefined || !joins) result.push(message);
    else {
      const content = `${textOf(last.content)}\n\n${textOf(message.content)}`;
      result[result.length - 1] = { ...last, content };
    }
  }
  return result;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) =>
      isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : '',
    )
    .join('');
}

/** Writes calls and their results as text, for a server that wants its tools offered as long as they are spoken of. */
function callsAsText(message: ChatMessage): ChatMessage {
  if (message.role === 'tool') {
    return { role: 'user', content: `Result of a tool:\n${textOf(message.content)}` };
  }
  const { tool_calls: calls = [], ...rest } = message;
  if (calls.length === 0) return message;
  const written = calls.map((call) => `Called a tool: ${JSON.stringify(call)}`);
  return { ...rest, content: [textOf(message.content), ...written].join('\n') };
}

/** Gives each call a turn of its own, with its result behind it, for templates that take one call a turn. */
function splitTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const results = new Map(
    messages.flatMap((each) => (each.role === 'tool' ? [[each['tool_call_id'], each]] : [])),
  );
  const split = new Set<unknown>();
  return messages.flatMap((message) => {
    if (message.role === 'tool') return split.has(message['tool_call_id']) ? [] : [message];
    const calls = message.tool_calls ?? [];
    if (calls.length < 2) return [message];
    return calls.flatMap((call, at) => {
      const id = isJsonObject(call) ? call['id'] : undefined;
      const result = results.get(id);
      split.add(id);
      const turn = { ...message, content: at === 0 ? message.content : null, tool_calls: [call] };
      return result === undefined ? [turn] : [turn, result];
    });
  });
}
