import type { IncomingMessage, ServerResponse } from 'node:http';
import { openRequest, type EnvelopeKeys, type OpenedRequest } from '#lib/envelope/index.ts';
import type { Log } from '#lib/log.ts';
import { answer, type CallDeps } from '../calls/answer.ts';
import type { Begun } from '../calls/executions.ts';
import type { RuntimeMetrics } from '../metrics.ts';
import { openFrameStream } from './frame-stream.ts';
import { readEnvelope } from './read-envelope.ts';

export interface ListenerDeps extends CallDeps {
  readonly keys: EnvelopeKeys;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
  readonly isDraining: () => boolean;
}

const RETRY_SECONDS = '2';

/** Serves every request that reaches the runtime. A response that is not sealed says nothing but its status. */
export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  deps: ListenerDeps,
): Promise<void> {
  const refuse = (status: number, headers: Record<string, string> = {}) => {
    deps.metrics.refused(status);
    // The rest of a body that is not wanted is not read.
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
  const { requestId, purpose, provider, projectId, connectionId, runId, step, epoch } =
    opened.claims;
  const begun = answerOrUndefined(opened, deps);
  // Without its journal it begins nothing: the disk is full, or gone.
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
