import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { z } from 'zod';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

import type { Log } from '../../stack/child.ts';
import { answerChat } from './chat.ts';
import { cutBeforeAnswer, cutMidway, hang, sendLoading, sendMalformed, sendScriptedError } from './faults.ts';
import { GatewayError, readJson, sendJson, waited } from './http.ts';
import { FURTHER_LISTS, listOf, LISTS } from './lists.ts';
import { mannerName, MANNERS } from './manners.ts';
import type { MannerName } from './manners.ts';
import type { Manner } from './manner.ts';
import { FIXTURE_MODELS } from './models.ts';
import { recorder } from './recorder.ts';
import type { RecordedRequest } from './recorder.ts';
import type { ChatRequest } from './request.ts';
import { Script, scriptQueue } from './script.ts';
import type { Behaviour, ScriptInput, ScriptQueue } from './script.ts';

export interface GatewayOptions {
  /** Port; 0 takes a free one. */
  port: number;
  log: Log;
  /** Server that the gateway imitates: by default the one that GATEWAY_MANNER names, else `fixture`. */
  manner?: MannerName;
}

export interface Gateway {
  /** Base address for OpenAI's clients, which ends in /v1. */
  url: string;
  port: number;
  /** The functions of `/_script`, `/_requests`, `/_manner` and `/_reset`, for tests in this process. */
  control: GatewayControl;
  stop(): Promise<void>;
}

export interface GatewayControl {
  script(...scripts: ScriptInput[]): void;
  /** Adds a script, and delays its responses until the returned function is called. */
  hold(script?: ScriptInput): () => void;
  requests(): RecordedRequest[];
  /** Imitates another server from now on. */
  manner(name: MannerName): void;
  /** Forgets scripts and requests. */
  reset(): void;
}

/**
 * Starts a local OpenAI-compatible model gateway: no model, but deterministic responses, real usage figures, and any
 * fault that a test asks for. Listens on 127.0.0.1 only and refuses to start in production.
 */
export async function startGateway({
  port,
  log,
  manner: name = mannerName(process.env['GATEWAY_MANNER'] ?? 'fixture'),
}: GatewayOptions): Promise<Gateway> {
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error('The fixture gateway does not run in production.');
  }
  let manner: Manner = MANNERS[name];
  const swap = pairing();
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
    manner: (next) => {
      manner = MANNERS[next];
    },
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
      if (route === 'POST /_manner') {
        control.manner(mannerName(parsed(z.strictObject({ manner: z.string() }), body).manner));
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
      throw GatewayError.of(401, 'You must provide an API key.', 'invalid_api_key');
    }
    const body = await readJson(request);
    const record = records.add(request, body);
    response.once('close', () => {
      record.aborted = !response.writableFinished;
    });
    const surroundings = { scripts, manner, swap };
    if (route === 'GET /v1/models') return answerModels(response, surroundings);
    if (route === 'POST /v1/chat/completions') return answerChat(response, body, surroundings);
    const further = request.method === 'GET' ? FURTHER_LISTS[path] : undefined;
    if (further?.dialect === manner.list) {
      return sendJson(response, 200, further.body(FIXTURE_MODELS));
    }
    throw GatewayError.of(404, `No such route: ${route}`);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return;
      const isMeant = error instanceof GatewayError;
      if (!isMeant) log(`The fixture gateway failed: ${String(error)}`);
      const { fields } = isMeant ? error : GatewayError.of(500, String(error));
      sendJson(response, fields.status, manner.errorBody(fields));
    });
  });
  const bound = await listenOn(server, { host: '127.0.0.1', port });
  return {
    url: `http://127.0.0.1:${bound}/v1`,
    port: bound,
    control,
    stop: () => closeAtOnce(server),
  };
}

async function answerModels(
  response: ServerResponse,
  { scripts, manner }: { scripts: ScriptQueue; manner: Manner },
): Promise<void> {
  const script = scripts.take({ target: 'models' });
  if (script && !(await waited(response, script.latencyMs, script.released))) return;
  const behaviour = script?.behaviour ?? { kind: 'normal' };
  const list = listFor(behaviour, manner);
  const answer = { body: () => JSON.stringify(list) };
  switch (behaviour.kind) {
    case 'error':
      return sendScriptedError(response, behaviour, manner);
    case 'loading':
      return sendLoading(response);
    case 'hang':
      return hang(response, answer, behaviour);
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

function listFor(behaviour: Behaviour, manner: Manner): object {
  if (behaviour.kind === 'list') return listOf(behaviour.models);
  const models =
    behaviour.kind === 'catalogue' ? behaviour.models.map((model) => ({ ...model, name: model.id })) : FIXTURE_MODELS;
  return LISTS[manner.list](models);
}

/** Parses one script or a list of them. */
function parseScripts(body: unknown): Script[] {
  return parsed(z.array(Script), Array.isArray(body) ? body : [body]);
}

function parsed<Shape extends z.ZodType>(shape: Shape, body: unknown): z.output<Shape> {
  const read = shape.safeParse(body);
  if (!read.success) throw GatewayError.of(400, z.prettifyError(read.error));
  return read.data;
}

/** Gives each of two callers the request of the other caller. The first caller waits for the second. */
function pairing(): (mine: ChatRequest) => Promise<ChatRequest> {
  let waiting: { mine: ChatRequest; resolve: (theirs: ChatRequest) => void } | undefined;
  return (mine) => {
    const other = waiting;
    waiting = undefined;
    if (other !== undefined) {
      other.resolve(mine);
      return Promise.resolve(other.mine);
    }
    const { promise, resolve } = Promise.withResolvers<ChatRequest>();
    waiting = { mine, resolve };
    return promise;
  };
}
