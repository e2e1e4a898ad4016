import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { z } from 'zod';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

import type { Log } from '../child.ts';
import { answerChat } from './chat.ts';
import { cutBeforeAnswer, cutMidway, hang, sendMalformed, sendScriptedError } from './faults.ts';
import { GatewayError, invalid, readJson, sendError, sendJson, waited } from './http.ts';
import { FIXTURE_MODELS, modelList } from './models.ts';
import { recorder } from './recorder.ts';
import type { RecordedRequest } from './recorder.ts';
import { Script, scriptQueue } from './script.ts';
import type { ScriptInput, ScriptQueue } from './script.ts';

export interface GatewayOptions {
  /** Port; 0 takes a free one. */
  port: number;
  log: Log;
}

export interface Gateway {
  /** Base address for OpenAI's clients, which ends in /v1. */
  url: string;
  port: number;
  /** Does what `/_script`, `/_requests` and `/_reset` do, for tests in this process. */
  control: GatewayControl;
  stop(): Promise<void>;
}

export interface GatewayControl {
  script(...scripts: ScriptInput[]): void;
  /** Adds a script whose responses are held back until the returned function is called. */
  hold(script?: ScriptInput): () => void;
  requests(): RecordedRequest[];
  /** Forgets scripts and requests. */
  reset(): void;
}

/**
 * Starts a local OpenAI-compatible model gateway: no model, but deterministic responses, real usage figures, and any
 * fault that a test asks for. Listens on 127.0.0.1 only and refuses to start in production.
 */
export async function startGateway({ port, log }: GatewayOptions): Promise<Gateway> {
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error('The fixture gateway does not run in production.');
  }
  const scripts = scriptQueue();
  const records = recorder();
  const control: GatewayControl = {
    script: (...inputs) => inputs.forEach((input) => scripts.add(input)),
    hold: (input = {}) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      scripts.add(input, promise);
      return resolve;
    },
    requests: () => records.all(),
    reset: () => {
      scripts.clear();
      records.clear();
    },
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?')[0] ?? '';
    const route = `${request.method} ${path}`;
    if (path.startsWith('/_')) {
      const body = await readJson(request);
      if (route === 'POST /_script') {
        for (const script of parseScripts(body)) control.script(script);
        return sendJson(response, 200, { ok: true });
      }
      if (route === 'POST /_reset') {
        control.reset();
        return sendJson(response, 200, { ok: true });
      }
      if (route === 'GET /_requests') {
        return sendJson(response, 200, { total: records.total(), requests: control.requests() });
      }
    }
    if (!/^Bearer \S/.test(request.headers.authorization ?? '')) {
      throw new GatewayError(
        401,
        'invalid_request_error',
        'invalid_api_key',
        'You must provide an API key.',
      );
    }
    const body = await readJson(request);
    const record = records.add(request, body);
    response.once('close', () => {
      record.aborted = !response.writableFinished;
    });
    if (route === 'GET /v1/models') return answerModels(response, scripts);
    if (route === 'POST /v1/chat/completions') return answerChat(response, body, scripts);
    throw new GatewayError(404, 'invalid_request_error', null, `No such route: ${route}`);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return;
      if (error instanceof GatewayError) return sendError(response, error);
      log(`The fixture gateway failed: ${String(error)}`);
      sendError(response, new GatewayError(500, 'server_error', null, String(error)));
    });
  });
  // Longer than any client keeps an idle connection: it must be the client who closes first.
  server.keepAliveTimeout = 120_000;
  const bound = await listenOn(server, { host: '127.0.0.1', port });
  return {
    url: `http://127.0.0.1:${bound}/v1`,
    port: bound,
    control,
    stop: () => closeAtOnce(server),
  };
}

async function answerModels(response: ServerResponse, scripts: ScriptQueue): Promise<void> {
  const script = scripts.take({ target: 'models' });
  if (script && !(await waited(response, script.latencyMs, script.released))) return;
  const behaviour = script?.behaviour ?? { kind: 'normal' };
  const list = modelList(behaviour.kind === 'list' ? behaviour.models : FIXTURE_MODELS);
  const answer = { body: () => JSON.stringify(list) };
  switch (behaviour.kind) {
    case 'error':
      return sendScriptedError(response, behaviour);
    case 'hang':
      return hang(response, answer, behaviour.afterChunks);
    case 'reset':
      return cutBeforeAnswer(response);
    case 'broken-stream':
      return cutMidway(response, answer, behaviour.afterChunks);
    case 'malformed-json':
      return sendMalformed(response, answer);
    default:
      return sendJson(response, 200, list);
  }
}

/** Parses one script or a list of them. */
function parseScripts(body: unknown): Script[] {
  const parsed = z.array(Script).safeParse(Array.isArray(body) ? body : [body]);
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  return parsed.data;
}
