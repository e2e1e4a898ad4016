import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { MAX_ENVELOPE_BYTES, openRequest, type EnvelopeKeys, type OpenedRequest } from '#lib/envelope/index.ts';
import { gracefulClose, listenOn } from '#lib/listen.ts';
import type { Log } from '#lib/log.ts';
import { answer, type CallDeps } from '../calls/answer.ts';
import type { Begun } from '../calls/executions.ts';
import type { RuntimeMetrics } from '../metrics.ts';
import { openFrameStream } from './frame-stream.ts';

export interface RuntimeServer {
  readonly port: number;
  /** Takes no more connections, and resolves when the open connections have ended. */
  close(): Promise<void>;
  /** Cuts the remaining connections, some of which may never have sent a request. */
  cut(): void;
}

const MAX_CONNECTIONS = 32;

/** Serves TLS 1.3 and HTTP/1.1 only. */
export async function listen(
  deps: ListenerDeps,
  tls: { readonly cert: string; readonly key: string },
  address: { readonly host: string; readonly port: number },
): Promise<RuntimeServer> {
  const server: Server = createServer(
    {
      ...tls,
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: 10_000,
      maxHeaderSize: 8_192,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => {
      handleRequest(request, response, deps).catch((error: unknown) => {
        deps.log.error({ err: error }, 'a request failed');
        response.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  const close = gracefulClose(server);
  return {
    port: await listenOn(server, address),
    close: () => close(),
    cut: () => server.closeAllConnections(),
  };
}

interface ListenerDeps extends CallDeps {
  readonly keys: EnvelopeKeys;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
  readonly isDraining: () => boolean;
}

const RETRY_SECONDS = '2';

/** Serves every request that reaches the runtime. A response that is not sealed has only a status. */
async function handleRequest(request: IncomingMessage, response: ServerResponse, deps: ListenerDeps): Promise<void> {
  const refuse = (status: number, headers: Record<string, string> = {}) => {
    deps.metrics.refused(status);
    // Close the connection, because the rest of a refused body is not read.
    if (!request.complete) headers['connection'] = 'close';
    response.writeHead(status, { 'content-length': '0', ...headers }).end();
  };
  if (request.method === 'GET' && request.url === '/health') {
    response.writeHead(204).end();
    return;
  }
  if (request.method !== 'POST' || request.url !== '/v1/envelopes') return refuse(404);
  if (deps.isDraining()) return refuse(503, { 'retry-after': RETRY_SECONDS });
  const read = await readEnvelope(request);
  if (read === 'too_large') return refuse(413);
  if (read === 'broken') return refuse(400);
  let opened: OpenedRequest;
  try {
    opened = await openRequest(read.text, deps.keys, deps);
  } catch {
    return refuse(400);
  }
  if (deps.isDraining()) return refuse(503, { 'retry-after': RETRY_SECONDS });
  await serve(opened, response, deps, refuse);
}

async function serve(
  opened: OpenedRequest,
  response: ServerResponse,
  deps: ListenerDeps,
  refuse: (status: number, headers?: Record<string, string>) => void,
): Promise<void> {
  const startedAt = performance.now();
  const { requestId, purpose, provider, projectId, connectionId, runId, step, epoch } = opened.claims;
  const begun = answerOrUndefined(opened, deps);
  // The journal cannot be written, because the disk is full or gone, so no call begins.
  if (begun === undefined) return refuse(500);
  if (begun.kind === 'full') return refuse(503, { 'retry-after': RETRY_SECONDS });
  const frames = openFrameStream(response, opened, deps);
  response.once('close', () => begun.leave());
  const outcome = await begun.outcome;
  const seconds = (performance.now() - startedAt) / 1_000;
  const came = outcome.type === 'result' ? 'ok' : outcome.code;
  deps.metrics.call({ purpose, provider: provider ?? 'none', outcome: came, seconds });
  deps.log.info(
    {
      requestId,
      purpose,
      provider,
      projectId,
      connectionId,
      runId,
      step,
      epoch,
      outcome: came,
      ms: Math.round(seconds * 1_000),
    },
    'call',
  );
  await frames.end(outcome);
}

function answerOrUndefined(opened: OpenedRequest, deps: ListenerDeps): Begun | undefined {
  try {
    return answer(opened, deps);
  } catch (err) {
    deps.log.error({ err, requestId: opened.claims.requestId }, 'the state cannot be written');
    return undefined;
  }
}

/** Reads the body, up to the size of an envelope. */
async function readEnvelope(request: IncomingMessage): Promise<{ readonly text: string } | 'too_large' | 'broken'> {
  // Refuse a body with a larger announced length before reading it.
  if (Number(request.headers['content-length'] ?? 0) > MAX_ENVELOPE_BYTES) return 'too_large';
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ENVELOPE_BYTES) return 'too_large';
      chunks.push(chunk);
    }
  } catch {
    return 'broken';
  }
  return { text: Buffer.concat(chunks).toString('latin1') };
}
