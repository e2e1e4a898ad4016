import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_PLAINTEXT_BYTES } from '#lib/envelope/index.ts';
import { parseJson } from '#lib/json.ts';
import { outboundErrorIn } from '#lib/outbound/index.ts';
import type { AllowedRequest, LoadedProvider } from '#lib/provider-file/index.ts';
import { closeAtOnce } from '#lib/listen.ts';
import { providerHeaders, retryAfterIn, type Credential } from '../provider/request-json.ts';
import { classifyStatus, type Classified } from '../session/classify.ts';

/** Limit of a request: twice that of a message, because strings within strings are escaped again for the provider. */
const MAX_REQUEST_BYTES = 2 * MAX_PLAINTEXT_BYTES;
/** Limit of an error, which has a few lines. The rest is not read. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Permission for one session to make one request of a kind that the provider's file allows. */
export interface BrokerJob {
  readonly provider: LoadedProvider;
  readonly allowed: readonly AllowedRequest[];
  readonly credential: Credential;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

/**
 * The only way out of a session: a unix socket. The session sends method, path and body; the file determines the
 * address and the other parts, and the broker adds the credential. A captured session has nothing to steal and no other
 * way out.
 */
export interface Broker {
  assign(job: BrokerJob): void;
  /** Classifies the provider's response outside of the session; undefined for a good response. */
  failure(): Classified | undefined;
  close(): Promise<void>;
}

export async function startBroker(socketPath: string): Promise<Broker> {
  let job: BrokerJob | undefined;
  let failure: Classified | undefined;
  const server = createServer({ maxHeaderSize: 16_384 }, (request, response) => {
    const taken = job;
    if (!taken?.allowed.some(({ method, path }) => method === request.method && path === request.url)) {
      request.resume();
      response.writeHead(403).end();
      return;
    }
    // The job is used up, because one model step makes one request.
    job = undefined;
    void serve(request, response, taken);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse, taken: BrokerJob): Promise<void> => {
    try {
      failure = await forward(request, response, taken);
    } catch {
      failure = { code: 'model_error', details: { status: null, retryable: true } };
      response.destroy();
    }
  };
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    assign: (given) => {
      job = given;
    },
    failure: () => failure,
    close: () => closeAtOnce(server),
  };
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { provider, credential, fetch, signal }: BrokerJob,
): Promise<Classified | undefined> {
  const body = await readBounded(request, MAX_REQUEST_BYTES);
  if (body === undefined) {
    response.writeHead(413).end();
    return { code: 'too_large', details: {} };
  }
  const { api, limits } = provider.file;
  let answer: Response;
  try {
    answer = await fetch(`${api.baseUrl}${request.url ?? ''}`, {
      method: request.method ?? 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        ...providerHeaders(provider, credential),
      },
      ...(body.length === 0 ? {} : { body }),
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    response.writeHead(502).end();
    return failureOf(error);
  }
  if (answer.status !== 200) {
    const failed = await readError(answer, limits);
    // The session does not get the text of the error: it needs to know only that no response follows.
    response.writeHead(answer.status >= 400 ? answer.status : 502).end();
    return failed;
  }
  const type = answer.headers.get('content-type') ?? 'text/event-stream';
  response.writeHead(200, { 'content-type': type });
  return pass(answer, response);
}

async function pass(answer: Response, response: ServerResponse): Promise<Classified | undefined> {
  if (answer.body === null) {
    response.end();
    return undefined;
  }
  try {
    await pipeline(Readable.fromWeb(answer.body), response);
    return undefined;
  } catch (error) {
    response.destroy();
    // A session that has left is no failure of the provider.
    const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    return isClosed ? undefined : failureOf(error);
  }
}

async function readError(answer: Response, limits: LoadedProvider['file']['limits']): Promise<Classified> {
  const { status, headers } = answer;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ERROR_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    // The status and the part of the body that arrived are enough to classify the error.
  }
  return classifyStatus(
    { status, retryAfterMs: retryAfterIn(headers), body: parseJson(Buffer.concat(chunks).toString('utf8')) },
    limits,
  );
}

function failureOf(error: unknown): Classified {
  const fault = outboundErrorIn(error);
  // A timeout means that the provider had the request and may bill it.
  if (fault?.code === 'timeout' && fault.mayHaveArrived) return { code: 'timeout', details: {} };
  if (fault?.code === 'response_too_large') return { code: 'too_large', details: {} };
  return { code: 'model_error', details: { status: null, retryable: true } };
}

async function readBounded(request: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
