import { errors, request, type Dispatcher } from 'undici';
import { ModelFailure } from '../model-failure.ts';
import { Refusal } from './refusal.ts';
import { brokenOff, collectStream, readCompletion } from './response.ts';

/** Limit of a response: a completion is text that a person could read, so a longer one is the provider's error. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Part of a refusal that is read: its words come first. */
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface GatewayFetchSettings {
  readonly dispatcher: Dispatcher;
  readonly apiKey: string | undefined;
  /** Longest silence of a response that is streamed; any other is silent until its end. */
  readonly silenceMs: number;
}

/**
 * Returns the part of `fetch` that the model library uses: it sends the request, collects a streamed response, reads
 * what servers do differently, and gives the library one plain completion. It follows no redirects. The library's own
 * streams would cost several times as much.
 * @throws {Refusal} when the server refuses, also in the middle of a stream
 * @throws {ModelFailure} when the response is too large, or breaks off
 */
export function gatewayFetch(settings: GatewayFetchSettings): typeof fetch {
  const { dispatcher, apiKey, silenceMs } = settings;
  const send = async (url: string, init: GatewayInit): Promise<Response> => {
    const sent = { body: init.body, apiKey };
    const idleMs = init.body.includes('"stream":true') ? silenceMs : 0;
    const timeouts = { headersTimeout: idleMs, bodyTimeout: idleMs };
    const { statusCode, headers, body } = await request(url, {
      ...init,
      ...timeouts,
      dispatcher,
    }).catch((error: unknown) => {
      throw error instanceof errors.HeadersTimeoutError ? fellSilent() : error;
    });
    const retryAfter = [headers['retry-after']].flat()[0];
    if (statusCode < 200 || statusCode >= 300) {
      const text = await readStart(body);
      throw new Refusal({ status: statusCode, body: text, retryAfter }, sent);
    }
    const refuse: Parameters<typeof readCompletion>[1] = (refused) => new Refusal(refused, sent);
    const isStream = String(headers['content-type']).includes('event-stream');
    const text = isStream
      ? JSON.stringify(readCompletion(await collectStream(bounded(body), refuse), refuse))
      : readBody(await readWhole(body), refuse);
    // A status that has no body refuses even an empty text.
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

/** Reads a body that was not streamed; what is no JSON is left for the library to refuse. */
function readBody(text: string, refuse: Parameters<typeof readCompletion>[1]): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify(readCompletion(value, refuse));
}

/** @throws {ModelFailure} when the body is too large, falls silent or breaks off */
async function* bounded(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) {
        const message = 'The answer of the model is too large.';
        throw new ModelFailure('model_malformed', message, { retryable: false });
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ModelFailure) throw error;
    if (error instanceof errors.BodyTimeoutError) throw fellSilent();
    throw brokenOff(bytes > 0);
  }
}

function fellSilent(): ModelFailure {
  const message = 'The model sent nothing for longer than MODEL_SILENCE_SECONDS.';
  return new ModelFailure('model_unreachable', message, { retryable: true, cutOff: true });
}

async function readWhole(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of bounded(body)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
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
    // The status counts; the words that came are shown.
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REFUSAL_BYTES);
}
