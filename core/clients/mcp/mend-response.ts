import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isStatusOfLostSession, mendMessages, statedError, type Asked, type Hold } from './messages.ts';

/**
 * Corrects the messages of a response with a result. The response is JSON or an event stream, under any content type.
 */
export async function mendResponse(response: Response, asked: Asked, hold: Hold): Promise<Response> {
  if (response.status === 202 || response.body === null) return response;
  const type = response.headers.get('content-type') ?? '';
  if (/^\s*text\/event-stream\b/i.test(type)) return withBody(response, mendEvents(response.body, asked, hold));
  const text = await response.text();
  if (EVENTS.test(text)) {
    return withBody(response, mendEvents(new Blob([text]).stream(), asked, hold), 'text/event-stream');
  }
  if (!/^\s*application\/json\b/i.test(type) && !BEGINS_JSON.test(text)) return withBody(response, text);
  return withBody(response, mendMessages(text, asked, hold), JSON_TYPE);
}

/**
 * Reads the response of a server that refuses a request of tools. A JSON-RPC error that names the request answers the
 * request under every HTTP status. An error without an id answers it too, unless the status says that the session is
 * gone.
 */
export async function mendRefusal(
  response: Response,
  asked: Asked,
  { hasSession, hold, isDenial }: { hasSession: boolean; hold: Hold; isDenial: (words: string) => boolean },
): Promise<Response> {
  const text = await response.text().catch(() => '');
  const error = statedError(text, asked);
  const isAnswer =
    error?.isJsonRpc === true &&
    !isDenial(error.words) &&
    (error.isOurs || !(hasSession && isStatusOfLostSession(response.status)));
  if (!isAnswer) return withBody(response, text);
  const headers = { 'content-type': JSON_TYPE };
  return new Response(mendMessages(text, asked, hold), { headers });
}

const JSON_TYPE = 'application/json';
const BEGINS_JSON = /^\s*\uFEFF?\s*[{[]/;
const EVENTS = /^\uFEFF?(?::|(?:data|event|id|retry):)/;

function withBody(response: Response, body: string | ReadableStream<Uint8Array>, type?: string): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  if (type !== undefined) headers.set('content-type', type);
  return new Response(body, { status, statusText, headers });
}

function mendEvents(body: ReadableStream<Uint8Array>, asked: Asked, hold: Hold): ReadableStream<Uint8Array> {
  /** The delay that the server has requested since the last event. */
  let retryMs: number | undefined;
  const parser = new EventSourceParserStream({ onRetry: (ms) => (retryMs = ms) });
  const takeRetry = (): string => {
    const line = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
    retryMs = undefined;
    return line;
  };
  const mended = new TransformStream<{ id?: string | undefined; event?: string | undefined; data: string }, string>({
    transform({ id, event, data }, controller) {
      const lines = data === '' ? '' : mendMessages(data, asked, hold);
      const fields = [...(id === undefined ? [] : [`id: ${id}`]), ...(event === undefined ? [] : [`event: ${event}`])];
      const text = [...fields, ...lines.split('\n').map((line) => `data: ${line}`)].join('\n');
      controller.enqueue(`${takeRetry()}${text}\n\n`);
    },
    flush(controller) {
      if (retryMs !== undefined) controller.enqueue(`${takeRetry()}\n`);
    },
  });
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(parser)
    .pipeThrough(mended)
    .pipeThrough(new TextEncoderStream());
}
