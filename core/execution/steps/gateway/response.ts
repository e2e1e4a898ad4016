import { randomBytes } from 'node:crypto';
import { createParser } from 'eventsource-parser';
import { isJsonObject, parseJson, type JsonObject } from '#lib/json.ts';
import { ModelFailure } from '../stop.ts';
import type { Refusal } from './refusal.ts';

/** Makes the error for an `error` that a server sends with status 200. */
type Refuse = (refused: {
  readonly body: string;
  readonly status: number;
  /** A part of the response has come. */
  readonly begun: boolean;
  readonly usage?: unknown;
}) => Refusal;

/** The fields of a message in which servers send what a model reasoned, and in which some want it back. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** Parts of a response that the model library does not read, as the field `beyond` of its body. */
export interface Beyond {
  /** Reasoning under the name in which it came, for the request that sends it back. */
  readonly reasoning: Readonly<Record<string, unknown>>;
  /** Thinking that was written into the text. */
  readonly thinking: string;
}

/**
 * Collects the events of a streamed completion into the body that a server sends without streaming.
 * @throws {ModelFailure} when the stream ends before the completion does
 */
export async function collectStream(chunks: AsyncIterable<Uint8Array>, refuse: Refuse): Promise<JsonObject> {
  const stream = new Collected();
  let refused: string | undefined;
  const parser = createParser({
    onEvent({ data, event }) {
      if (data === '[DONE]') stream.isDone = true;
      else if (event === 'error' || data.startsWith('{"error"')) refused ??= data;
      else if (!stream.add(data)) refused ??= data;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (refused !== undefined) {
      const { hasBegun: begun, usage } = stream;
      throw refuse({ body: refused, status: statusIn(refused), begun, usage });
    }
    if (stream.isDone) break;
  }
  parser.feed(`${decoder.decode()}\n\n`);
  if (!stream.isDone && stream.finishReason === null) throw brokenOff(stream.hasBegun);
  return stream.body();
}

/** Makes the failure of a call whose connection broke. @param cutOff something had come, which may be billed */
export function brokenOff(cutOff: boolean): ModelFailure {
  const message = 'The model provider broke off the call.';
  return new ModelFailure('model_unreachable', message, { retryable: true, cutOff });
}

/** Returns the HTTP status that an error within a stream names; 502 where it names none. */
function statusIn(body: string): number {
  const status = Number(/"(?:code|status|status_code)"\s*:\s*"?([45]\d\d)\b/.exec(body)?.[1]);
  return Number.isInteger(status) ? status : 502;
}

interface StreamedCall {
  id: string | undefined;
  name: string;
  arguments: string;
  extra: unknown;
}

/** A completion in the making, from chunks in all the forms that servers send. */
class Collected {
  isDone = false;
  hasBegun = false;
  finishReason: string | null = null;
  private head: JsonObject = {};
  private readonly texts: Record<string, string> = {};
  private readonly details: Record<string, unknown>[] = [];
  private readonly calls: StreamedCall[] = [];
  /** The call that the next piece with an index belongs to. */
  private readonly open = new Map<unknown, StreamedCall>();
  usage: unknown;

  /** @returns false for what is no chunk of a completion */
  add(data: string): boolean {
    const chunk = parseJson(data);
    if (!isJsonObject(chunk)) return false;
    const { id, model, created, usage, choices } = chunk;
    this.head = { id, model, created, ...definedOf(this.head) };
    // Some send the usage so far with each chunk, and the whole of it last.
    if (isJsonObject(usage)) this.usage = usage;
    const choice: unknown = Array.isArray(choices)
      ? choices.find((each) => isJsonObject(each) && (each['index'] ?? 0) === 0)
      : undefined;
    if (!isJsonObject(choice)) return true;
    if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason'];
    if (isJsonObject(choice['usage'])) this.usage = choice['usage'];
    const delta = choice['delta'] ?? choice['message'];
    if (isJsonObject(delta)) this.addDelta(delta);
    return true;
  }

  private addDelta(delta: JsonObject): void {
    for (const name of ['content', 'reasoning_content', 'reasoning', 'refusal']) {
      const text = delta[name];
      if (typeof text !== 'string' || text === '') continue;
      this.texts[name] = (this.texts[name] ?? '') + text;
      this.hasBegun = true;
    }
    for (const part of listOf(delta['content'])) {
      if (typeof part['text'] !== 'string') continue;
      this.texts['content'] = (this.texts['content'] ?? '') + part['text'];
    }
    for (const detail of listOf(delta['reasoning_details'])) this.addDetail(detail);
    for (const call of listOf(delta['tool_calls'])) this.addCall(call);
  }

  /** Servers tell calls apart by index, by id, or only by sending a name again. */
  private addCall(part: JsonObject): void {
    this.hasBegun = true;
    const { index = null, id, extra_content: extra } = part;
    const named = isJsonObject(part['function']) ? part['function'] : {};
    const hasId = typeof id === 'string' && id !== '';
    const hasName = typeof named['name'] === 'string' && named['name'] !== '';
    let call = this.open.get(index);
    const isOther = hasId && call?.id !== undefined && call.id !== id;
    if (call === undefined || isOther || (index === null && hasName)) {
      call = { id: undefined, name: '', arguments: '', extra: undefined };
      this.calls.push(call);
      this.open.set(index, call);
    }
    if (hasId) call.id ??= id;
    if (hasName) call.name ||= String(named['name']);
    const args = named['arguments'];
    if (typeof args === 'string') call.arguments += args;
    else if (isJsonObject(args)) call.arguments = JSON.stringify(args);
    call.extra ??= extra;
  }

  /** Joins the pieces of one block, which have its index. */
  private addDetail(piece: JsonObject): void {
    this.hasBegun = true;
    const { index, type } = piece;
    const found = this.details.find((each) => each['index'] === index && each['type'] === type);
    if (found === undefined || index === undefined) {
      this.details.push({ ...piece });
      return;
    }
    for (const [name, value] of Object.entries(piece)) {
      const before = found[name];
      const joins = ['text', 'summary', 'data'].includes(name);
      if (joins && typeof before === 'string' && typeof value === 'string') {
        found[name] = before + value;
      } else if (value !== null) found[name] = value;
    }
  }

  body(): JsonObject {
    const { content = '', ...texts } = this.texts;
    const calls = this.calls.map(({ id, name, arguments: args, extra }) => ({
      ...(id === undefined ? {} : { id }),
      type: 'function',
      function: { name, arguments: args },
      ...(extra === undefined ? {} : { extra_content: extra }),
    }));
    const message = {
      role: 'assistant',
      content,
      ...texts,
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      ...definedOf(this.head),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: this.finishReason }],
      ...(this.usage === undefined ? {} : { usage: this.usage }),
    };
  }
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function definedOf(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

/**
 * Rewrites a completion so that the library reads it as it is meant: calls with ids of their own, counts as numbers,
 * reasoning and thinking apart from the text.
 * @throws {Refusal} for an error with status 200, and for a completion that its provider broke off
 */
export function readCompletion(value: unknown, refuse: Refuse): unknown {
  if (!isJsonObject(value)) return value;
  const { choices, usage } = value;
  if (value['error'] != null && !Array.isArray(choices)) {
    const body = JSON.stringify(value);
    throw refuse({ body, status: statusIn(body), begun: false });
  }
  const [choice] = listOf(choices);
  const message = choice?.['message'];
  if (choice === undefined || !isJsonObject(message)) return value;
  if (choice['finish_reason'] === 'error') {
    const body = JSON.stringify({ error: choice['error'] ?? value['error'] ?? '' });
    throw refuse({ body, status: 502, begun: true, usage });
  }
  const { content, ...others }: Record<string, unknown> = message;
  const { text, thinking } = withoutThinking(content);
  const reasoning = Object.fromEntries(
    REASONING_FIELDS.flatMap((name) => (others[name] == null ? [] : [[name, others[name]]])),
  );
  for (const name of REASONING_FIELDS) delete others[name];
  const calls = Array.isArray(others['tool_calls']) ? withOwnIds(others['tool_calls']) : undefined;
  const beyond: Beyond = { reasoning, thinking };
  return {
    ...value,
    ...(isJsonObject(usage) ? { usage: withNumbers(usage) } : {}),
    choices: [
      {
        ...choice,
        message: {
          ...others,
          content: text,
          ...(calls === undefined ? {} : { tool_calls: calls }),
        },
      },
    ],
    beyond,
  };
}

/**
 * Matches thinking at the start of a text: with both tags, or with the second alone, at the end of its line, where the
 * template wrote the first.
 */
const THINKING = /^\s*(?:<think(?:ing)?>([\s\S]*?)<\/think(?:ing)?>|([\s\S]*?)(?<!`)<\/think>[ \t]*(?:\n|$))\s*/;

function withoutThinking(content: unknown): { text: unknown; thinking: string } {
  if (typeof content !== 'string') return { text: content, thinking: '' };
  const found = THINKING.exec(content);
  if (found !== null) return { text: content.slice(found[0].length), thinking: found[1] ?? found[2] ?? '' };
  // Cut before it ended, it is no text either.
  const isOpen = /^\s*<think(?:ing)?>/.test(content);
  return isOpen ? { text: '', thinking: content } : { text: content, thinking: '' };
}

/** Gives an id of nine letters and digits, which Mistral asks for, to a call without one or with that of another. */
function withOwnIds(calls: readonly unknown[]): unknown[] {
  const seen = new Set<unknown>();
  return calls.map((call) => {
    if (!isJsonObject(call)) return call;
    const { id } = call;
    const isOwn = typeof id === 'string' && id !== '' && !seen.has(id);
    seen.add(id);
    return isOwn ? call : { ...call, id: randomBytes(8).toString('hex').slice(0, 9) };
  });
}

const WHOLE_NUMBER = /^\d{1,15}$/;

/** Reads the token counts that some gateways send as decimal texts. */
function withNumbers(usage: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => {
      if (name.endsWith('_tokens') && typeof value === 'string' && WHOLE_NUMBER.test(value)) {
        return [name, Number(value)];
      }
      return [name, name.endsWith('_details') && isJsonObject(value) ? withNumbers(value) : value];
    }),
  );
}
