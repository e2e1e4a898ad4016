import { AsyncLocalStorage } from 'node:async_hooks';
import { errors, request, type Dispatcher } from 'undici';
import { parseJson } from '#lib/exact-json/parse.ts';
import { isJsonObject } from '#lib/json.ts';
import type { Effort, ModelAbilities } from './abilities.ts';
import { readCompletion, REASONING_FIELDS, textOf, type Refuse } from './completion.ts';
import { brokenOff, GatewayFailure } from './failure.ts';
import { schemaKey } from './lesson.ts';
import { Refusal } from './refusal.ts';
import { collectStream } from './stream.ts';

/** The most bytes of a response: a completion is text for a person, so a longer response is an error of the provider. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** The most bytes that are read of a refusal. The server's words are at the start. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Passes a call's stream listener to the `fetch` that the library calls. */
export const streamListener = new AsyncLocalStorage<((text: () => string) => void) | undefined>();

export interface GatewayFetchSettings {
  readonly dispatcher: Dispatcher;
  readonly apiKey: string | undefined;
  /** Longest silence of a streamed response. A response that is not streamed is silent until its end. */
  readonly silenceMs: number;
}

/**
 * Returns the part of `fetch` that the model library uses: it sends the request, collects a streamed response, handles
 * the differences of servers, and gives the library one plain completion. It follows no redirects. The library's own
 * streams would cost several times as much.
 * @throws {Refusal} when the server refuses, also in the middle of a stream
 * @throws {GatewayFailure} when the response is too large, or breaks off
 */
export function gatewayFetch(settings: GatewayFetchSettings): typeof fetch {
  const { dispatcher, apiKey, silenceMs } = settings;
  const send = async (url: string, init: GatewayInit): Promise<Response> => {
    const onStream = streamListener.getStore();
    const sent = { body: init.body, apiKey };
    const idleMs = init.body.includes('"stream":true') ? silenceMs : 0;
    const options = { ...init, headersTimeout: idleMs, bodyTimeout: idleMs, dispatcher };
    const { statusCode, headers, body } = await request(url, options).catch((error: unknown) => {
      throw error instanceof errors.HeadersTimeoutError ? fellSilent() : error;
    });
    const retryAfter = [headers['retry-after']].flat()[0];
    if (statusCode < 200 || statusCode >= 300) {
      const text = await readStart(body);
      throw new Refusal({ status: statusCode, body: text, retryAfter }, sent);
    }
    const refuse: Refuse = (refused) => new Refusal({ retryAfter, ...refused }, sent);
    const isEventStream = String(headers['content-type']).includes('event-stream');
    const text = await readAnswer(bounded(body), { isEventStream, refuse, onStream });
    if (statusCode === 200 && text.trim() === '') throw brokenOff(false);
    // `Response` takes no text, not even an empty text, for a status that has no body.
    return new Response(text === '' ? null : text, { status: statusCode, headers: JSON_BODY });
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library calls it with an address and a text only
  return send as unknown as typeof fetch;
}

interface GatewayInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

const JSON_BODY = { 'content-type': 'application/json' };

/**
 * Reads a completion as JSON or as a stream, by its first characters: some servers stream under another content type,
 * and some send an error under the content type of a stream.
 */
async function readAnswer(
  body: AsyncIterable<Buffer>,
  {
    isEventStream,
    refuse,
    onStream,
  }: { isEventStream: boolean; refuse: Refuse; onStream: ((text: () => string) => void) | undefined },
): Promise<string> {
  const { head, rest } = await startOf(body);
  const text = Buffer.concat(head).toString('utf8');
  const isStream = EVENTS.test(text) || (isEventStream && !/^[\s\uFEFF]*[{[<]/.test(text));
  const chunks = resumed(head, rest);
  return isStream
    ? JSON.stringify(readCompletion(await collectStream(chunks, refuse, onStream), refuse))
    : readBody(await readWhole(chunks), refuse);
}

/** Matches the beginning of server-sent events: a field, or a comment. */
const EVENTS = /^[\s\uFEFF]*(?:(?:data|event|id|retry)[ \t]*:|:)/;

/** Number of characters at the start of a body that show whether the body is JSON or a stream of events. */
const SHOWS_FORM = 8;

async function startOf(body: AsyncIterable<Buffer>): Promise<{ head: Buffer[]; rest: AsyncIterator<Buffer> }> {
  const rest = body[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  for (let length = 0; length < SHOWS_FORM;) {
    const next = await rest.next();
    if (next.done === true) break;
    head.push(next.value);
    length += next.value.toString('latin1').trim().length;
  }
  return { head, rest };
}

async function* resumed(head: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Reads a body. A text that is not JSON stays unchanged: the library refuses it. */
function readBody(text: string, refuse: Refuse): string {
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(readCompletion(value, refuse));
}

/** @throws {GatewayFailure} when the body is too large, falls silent or breaks off */
async function* bounded(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) {
        const message = 'The answer of the model is too large.';
        throw new GatewayFailure('malformed', message, { retryable: false });
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof GatewayFailure) throw error;
    if (error instanceof errors.BodyTimeoutError) throw fellSilent();
    throw brokenOff(bytes > 0);
  }
}

function fellSilent(): GatewayFailure {
  const message = 'The model sent nothing for longer than MODEL_SILENCE_SECONDS.';
  return new GatewayFailure('unreachable', message, { retryable: true, cutOff: true });
}

async function readWhole(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  // The decoder removes a byte order mark, which is not JSON.
  return new TextDecoder().decode(Buffer.concat(chunks));
}

async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The status suffices for a refusal: show the words that have arrived.
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REFUSAL_BYTES);
}

/** A message of OpenAI's chat completions. */
interface ChatMessage extends Readonly<Record<string, unknown>> {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[] | undefined;
}

/**
 * Fits the body of a request to the model's server and to the rules of all servers: roles alternate, a request with
 * tools has no schema, and fields that the server has refused are left out.
 */
export function adaptRequest(
  body: Record<string, unknown>,
  abilities: ModelAbilities,
  effort?: Effort,
): Record<string, unknown> {
  const { max_tokens: limit, response_format: format, messages, ...rest } = body;
  const tools = Array.isArray(rest['tools']) && rest['tools'].length > 0;
  const streaming = abilities.streaming !== false;
  const limitField = abilities.outputLimit ?? 'max_tokens';
  const oneCall = tools && abilities.parallelToolCalls === false;
  const takesSchema = () => abilities.structuredOutputs !== false && abilities[schemaKey(format)] !== false;
  return {
    ...rest,
    messages: Array.isArray(messages) ? adaptMessages(messages, abilities, tools) : messages,
    ...(limit === undefined || limitField === 'none' ? {} : { [limitField]: limit }),
    ...(effort === undefined ? {} : effortField(effort, abilities)),
    // Send no schema beside tools: a grammar for the text keeps llama.cpp and vLLM from calling tools, and Groq and
    // Gemini refuse both together.
    ...(format === undefined || tools || !takesSchema() ? {} : { response_format: format }),
    ...(oneCall && abilities.parallelToolCallsField !== false ? { parallel_tool_calls: false } : {}),
    ...(streaming ? { stream: true } : {}),
    ...(streaming && abilities.streamUsage !== false ? { stream_options: { include_usage: true } } : {}),
  };
}

function effortField(effort: Effort, { effort: field = 'reasoning_effort' }: ModelAbilities) {
  if (field === 'none') return {};
  if (field === 'reasoning') return { reasoning: { effort } };
  return field === 'reasoning_effort' ? { [field]: effort } : { [field]: { reasoning_effort: effort } };
}

function adaptMessages(messages: readonly unknown[], abilities: ModelAbilities, tools: boolean): ChatMessage[] {
  let adapted = messages.filter(isMessage);
  if (abilities.reasoningBack === false) adapted = adapted.map(withoutReasoning);
  if (!tools && abilities.callsWithoutTools === false) adapted = adapted.map(callsAsText);
  else if (abilities.parallelToolCalls === false) adapted = splitTurns(adapted);
  if (abilities.systemRole === false) {
    adapted = adapted.map((each) => (each.role === 'system' ? { ...each, role: 'user' } : each));
  }
  return alternating(adapted);
}

function isMessage(value: unknown): value is ChatMessage {
  return isJsonObject(value) && typeof value['role'] === 'string';
}

function withoutReasoning(message: ChatMessage): ChatMessage {
  if (!REASONING_FIELDS.some((field) => field in message)) return message;
  const others = Object.entries(message).filter(([name]) => !REASONING_FIELDS.some((field) => field === name));
  return { role: message.role, ...Object.fromEntries(others) };
}

/**
 * Joins a user's message to a message of a user or a tool before it: the chat templates of Gemma refuse two user's
 * messages in a row, and the templates of Mistral a user's message after a tool's. Drops an assistant's message without
 * text and calls, because no template takes such a message.
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

function callsAsText(message: ChatMessage): ChatMessage {
  if (message.role === 'tool') {
    return { role: 'user', content: `Result of a tool:\n${textOf(message.content)}` };
  }
  const { tool_calls: calls = [], ...rest } = message;
  if (calls.length === 0) return message;
  const written = calls.map((call) => `Called a tool: ${JSON.stringify(call)}`);
  return { ...rest, content: [textOf(message.content), ...written].join('\n') };
}

/** Puts each call into a separate turn, followed by its result, for templates that take one call per turn. */
function splitTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const results = new Map(messages.flatMap((each) => (each.role === 'tool' ? [[each['tool_call_id'], each]] : [])));
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
