import type { ServerResponse } from 'node:http';
import { once } from 'node:events';

import { COMMENT } from './completion.ts';
import { GatewayError, send, sendJson, waited } from './http.ts';
import type { Manner } from './manner.ts';
import type { Behaviour, Form } from './script.ts';

type Of<Kind extends Behaviour['kind']> = Extract<Behaviour, { kind: Kind }>;

export function sendScriptedError(
  response: ServerResponse,
  { status, message, code, retryAfter, body, json }: Of<'error'>,
  { errorBody }: Manner,
): void {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  if (body !== undefined) return send(response, status, 'text/html', body, headers);
  if (json !== undefined) {
    return send(response, status, 'application/json', JSON.stringify(json), headers);
  }
  const { fields } = GatewayError.of(status, message, code);
  sendJson(response, status, errorBody(fields), headers);
}

/** Responds as llama.cpp does until it has loaded its model. */
export function sendLoading(response: ServerResponse): void {
  const error = { message: 'Loading model', type: 'unavailable_error', code: 503 };
  sendJson(response, 503, { error });
}

/** Never ends the response: sends nothing, or the first chunks, or comments until the client leaves. */
export async function hang(
  response: ServerResponse,
  answer: Answer,
  { afterChunks, comments }: Of<'hang'>,
): Promise<void> {
  if (afterChunks !== undefined || comments === true) begin(response, answer, afterChunks ?? 0);
  if (comments !== true) return;
  while (await waited(response, 20)) response.write(COMMENT);
}

export function cutBeforeAnswer(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Sends the beginning of a response and closes the connection. */
export function cutMidway(response: ServerResponse, answer: Answer, afterChunks: number): void {
  begin(response, answer, afterChunks, () => response.socket?.destroy());
}

/** Sends a well-formed HTTP response whose JSON ends too early. */
export function sendMalformed(response: ServerResponse, { events, body }: Answer): void {
  if (events === undefined) send(response, 200, 'application/json', half(body()));
  else {
    const [first = '', second = ''] = events();
    send(response, 200, 'text/event-stream', `${first}${half(second)}\n\ndata: [DONE]\n\n`);
  }
}

/** Sends the bytes of a script unchanged, and then ends the response, cuts the connection, or leaves it open. */
export async function sendRaw(
  response: ServerResponse,
  { parts, contentType, headers, pieceBytes, ending }: Of<'raw'>,
): Promise<void> {
  response.writeHead(200, { 'content-type': contentType, ...headers });
  const whole = Buffer.from(parts.join(''));
  const count = pieceBytes === undefined ? 0 : Math.ceil(whole.length / pieceBytes);
  const pieces =
    pieceBytes === undefined
      ? parts
      : Array.from({ length: count }, (_, index) => whole.subarray(index * pieceBytes, (index + 1) * pieceBytes));
  for (const piece of pieces) {
    response.write(piece);
    if (!(await waited(response, 1))) return;
  }
  if (ending === 'end') response.end();
  else if (ending === 'cut') response.socket?.destroy();
}

/** Sends until the client stops reading. */
export async function sendEndlessly(response: ServerResponse, answer: Answer, chunkDelayMs: number): Promise<void> {
  const chunk = answer.events?.()[1] ?? 'and so on and on, ';
  begin(response, answer, 1);
  while (!response.destroyed) {
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    // Without a pause, this process would never notice that the client has left.
    else if (!(await waited(response, Math.max(chunkDelayMs, 1)))) return;
  }
}

/** Sends a response up to the place at which the script stops it. */
export function stopAt(
  response: ServerResponse,
  { events, body }: Answer,
  stop: NonNullable<Form['stop']>,
  abrupt: boolean,
): void {
  const whole = Buffer.from(events === undefined ? body() : events().join(''));
  const place = placeIn(whole, stop);
  const isWithin = events === undefined || stop === 'character';
  // Stop a stream between two events, and a body or a character in the middle.
  const end = isWithin ? place : whole.lastIndexOf('data: ', place);
  response.writeHead(200, { 'content-type': contentTypeOf(events) });
  response.write(whole.subarray(0, end), () => {
    if (abrupt) response.socket?.destroy();
    else response.end();
  });
}

/** Finds the place of a stop. @throws when the answer has no such place: a mistake in the test */
function placeIn(whole: Buffer, stop: NonNullable<Form['stop']>): number {
  const marks = { call: '"arguments":', usage: '"usage":', done: 'data: [DONE]' };
  const place = stop === 'character' ? whole.findIndex((byte) => byte > 0x7f) + 1 : whole.lastIndexOf(marks[stop]);
  if (place <= 0) throw new Error(`The answer has no place to stop at: ${stop}.`);
  return place;
}

/** A whole response, as the events of a stream or as a body. It is made only when needed. */
export interface Answer {
  events?: (() => string[]) | undefined;
  body: () => string;
}

function begin(response: ServerResponse, { events, body }: Answer, chunks: number, then: () => void = () => {}): void {
  response.writeHead(200, { 'content-type': contentTypeOf(events) });
  response.flushHeaders();
  const text = events === undefined ? half(body()) : events().slice(0, chunks).join('');
  response.write(text, then);
}

function contentTypeOf(events: Answer['events']): string {
  return events === undefined ? 'application/json' : 'text/event-stream';
}

function half(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}
