import { createParser } from 'eventsource-parser';
import { isJsonObject, jsonObjectsIn, parseJson, withoutUndefined, type JsonObject } from '#lib/json.ts';
import { refusedBy, type Refuse } from './completion.ts';
import { isErrorName, readEvents, type Fault } from './events.ts';
import { brokenOff } from './failure.ts';
import { finishWord, isGoodEnd } from './finish-words.ts';
import { StreamedCalls } from './streamed-calls.ts';

/**
 * Collects the events of a streamed completion into the body that a server sends without streaming.
 * @param onStream is called once with a function that returns the content so far
 * @throws {Refusal} for an error among the events, at any place
 * @throws {GatewayFailure} when the stream ends before the completion does
 */
export async function collectStream(
  chunks: AsyncIterable<Uint8Array>,
  refuse: Refuse,
  onStream?: (text: () => string) => void,
): Promise<JsonObject> {
  const stream = new Collected();
  onStream?.(() => stream.content);
  const parser = createParser({
    onEvent: ({ data, event }) => stream.addEvent(data, event),
    // A proxy or a framework may write an error between the events, without `data:`.
    onError: ({ field, value, line }) => {
      if (field === 'error') stream.addEvent(value ?? '', 'error');
      else stream.addStray(line ?? '');
    },
  });
  const throwFault = (fault: Fault | undefined): void => {
    if (fault !== undefined) throw refuse({ ...refusedBy(fault), begun: stream.hasBegun, usage: stream.usage });
  };
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    throwFault(stream.fault);
    if (stream.isDone) break;
  }
  if (!stream.isDone) {
    stream.isOver = true;
    parser.feed(`${decoder.decode()}\n\n`);
  }
  throwFault(stream.fault ?? stream.strayFault());
  if (!stream.isWhole) throw brokenOff(stream.hasBegun);
  return stream.body();
}

/** The most characters outside of events that are kept and searched for an error. */
const MAX_STRAY = 64 * 1024;

/** Builds a completion from chunks, in all the forms that servers send. */
class Collected {
  isDone = false;
  /** True once the connection has ended. From then on, the beginning of an event is no fault. */
  isOver = false;
  hasBegun = false;
  fault: Fault | undefined;
  usage: unknown;
  private finishReason: unknown = null;
  private nativeReason: unknown;
  private head: JsonObject = {};
  private readonly texts: Record<string, string> = {};
  private readonly details = new Map<unknown, Record<string, unknown>>();
  private readonly calls = new StreamedCalls();
  private stray = '';

  addEvent(data: string, name: string | undefined): void {
    for (const event of readEvents(data, name)) {
      if (this.isDone || this.fault !== undefined) return;
      if (event.kind === 'done') this.isDone = true;
      else if (event.kind === 'chunk') this.addChunk(event.chunk);
      else if (event.kind === 'fault' && (isErrorName(name) || !this.passes(data))) this.fault = event.fault;
    }
  }

  /** Tells whether to ignore a text that is not JSON: the start of a cut event, or any text after the finish reason. */
  private passes(data: string): boolean {
    if (parseJson(data) !== undefined) return false;
    return finishWord(this.finishReason) !== undefined || (this.isOver && /^\s*[{["]/.test(data));
  }

  addStray(line: string): void {
    if (/^\s*[{[]/.test(line) && parseJson(line) !== undefined) this.addEvent(line, undefined);
    else if (this.stray.length < MAX_STRAY) this.stray += `${line}\n`;
  }

  /** Returns the error in lines outside of events, for a stream that does not end well. */
  strayFault(): Fault | undefined {
    if (this.isWhole || this.stray.trim() === '') return undefined;
    const [event] = readEvents(this.stray);
    return event?.kind === 'fault' ? event.fault : undefined;
  }

  /** True once the stream has a finish reason, or has ended properly after some content. */
  get isWhole(): boolean {
    return finishWord(this.finishReason) !== undefined || (this.isDone && this.hasBegun);
  }

  get content(): string {
    return this.texts['content'] ?? '';
  }

  private addChunk(chunk: JsonObject): void {
    const { id, model, created, usage, choices } = chunk;
    this.head = { id, model, created, ...withoutUndefined(this.head) };
    // Keep the last usage: some servers send the usage so far with each chunk, and the total last.
    if (isJsonObject(usage)) this.usage = usage;
    const choice: unknown = Array.isArray(choices)
      ? choices.find((each) => isJsonObject(each) && (each['index'] ?? 0) === 0)
      : undefined;
    if (!isJsonObject(choice)) return;
    this.addReason(choice);
    if (isJsonObject(choice['usage'])) this.usage = choice['usage'];
    const delta = choice['delta'] ?? choice['message'];
    if (isJsonObject(delta)) this.addDelta(delta);
  }

  /** Keeps the last finish reason, but never replaces a bad reason by a good one. */
  private addReason({ finish_reason: reason, native_finish_reason: native }: JsonObject): void {
    const word = finishWord(reason);
    if (word === undefined) return;
    const before = finishWord(this.finishReason);
    if (before !== undefined && !isGoodEnd(before) && isGoodEnd(word)) return;
    this.finishReason = reason;
    this.nativeReason = native;
  }

  private addDelta(delta: JsonObject): void {
    for (const name of ['content', 'reasoning_content', 'reasoning', 'refusal']) this.addText(name, delta[name]);
    for (const part of jsonObjectsIn(delta['content'])) this.addText('content', part['text']);
    for (const detail of jsonObjectsIn(delta['reasoning_details'])) this.addDetail(detail);
    if (this.calls.add(delta)) this.hasBegun = true;
  }

  private addText(name: string, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.texts[name] = (this.texts[name] ?? '') + text;
    this.hasBegun = true;
  }

  /** Joins the pieces with one index, which belong to the same block. */
  private addDetail(piece: JsonObject): void {
    this.hasBegun = true;
    const { index, type } = piece;
    const key = index === undefined ? piece : JSON.stringify([index, type]);
    const found = this.details.get(key);
    if (found === undefined) {
      this.details.set(key, { ...piece });
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
    const calls = this.calls.whole();
    const message = {
      role: 'assistant',
      content,
      ...texts,
      ...(this.details.size === 0 ? {} : { reasoning_details: [...this.details.values()] }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const reasons = { finish_reason: this.finishReason, native_finish_reason: this.nativeReason };
    return {
      ...withoutUndefined(this.head),
      object: 'chat.completion',
      choices: [{ index: 0, message, ...reasons }],
      ...(this.usage === undefined ? {} : { usage: this.usage }),
    };
  }
}
