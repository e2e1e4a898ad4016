import type { ServerResponse } from 'node:http';
import { once } from 'node:events';

import { GatewayError, send, sendError, waited } from './http.ts';
import type { Behaviour } from './script.ts';

type Of<Kind extends Behaviour['kind']> = Extract<Behaviour, { kind: Kind }>;

export function sendScriptedError(
  response: ServerResponse,
  { status, message, retryAfter, body }: Of<'error'>,
): void {
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  if (body !== undefined) return send(response, status, 'text/html', body, headers);
  const type = status === 429 ? 'rate_limit_error' : 'server_error';
  sendError(response, new GatewayError(status, type, null, message), headers);
}

/** Begins the response, then neither goes on nor ends. */
export function hang(response: ServerResponse, answer: Answer, afterChunks?: number): void {
  if (afterChunks !== undefined) begin(response, answer, afterChunks);
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

/** Sends for as long as the client reads. */
export async function sendEndlessly(
  response: ServerResponse,
  answer: Answer,
  chunkDelayMs: number,
): Promise<void> {
  const chunk = answer.events?.()[1] ?? 'and so on and on, ';
  begin(response, answer, 1);
  while (!response.destroyed) {
    if (!response.write(chunk))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    // Without a pause the client's end of the connection would never be noticed.
    else if (!(await waited(response, Math.max(chunkDelayMs, 1)))) return;
  }
}

/** A whole response, made only when needed: the events of a stream, or a body. */
export interface Answer {
  events?: () => string[];
  body: () => string;
}

function begin(
  response: ServerResponse,
  { events, body }: Answer,
  chunks: number,
  then: () => void = () => {},
): void {
  const contentType = events === undefined ? 'application/json' : 'text/event-stream';
  response.writeHead(200, { 'content-type': contentType });
  response.flushHeaders();
  const text = events === undefined ? half(body()) : events().slice(0, chunks).join('');
  response.write(text, then);
}

function half(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}
