import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Protocol } from '#lib/provider-file/index.ts';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import type { Log } from '../../stack/child.ts';
import { readJson, sendJson } from '../gateway/http.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { Behaviour, type BehaviourInput } from './behaviour.ts';
import { complete } from './complete.ts';
import { FIXTURE_ACCOUNT_MODELS, modelPage } from './models.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { FixtureProtocol } from './protocol.ts';

export interface ReceivedRequest {
  readonly protocol: Protocol;
  readonly method: string;
  /** Path and query below the protocol's base. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  /** True when the client went away before the end. */
  aborted: boolean;
}

export interface FixtureProviders {
  /** `baseUrl` of a provider file, by protocol. */
  readonly baseUrls: Readonly<Record<Protocol, string>>;
  readonly control: {
    /** Sets the behaviours of the next completions, in order. */
    script(...behaviours: BehaviourInput[]): void;
    /** Sets the response to the next request for the list of models or the proof of a key. */
    answer(path: string, status: number, body: unknown): void;
    /** Leaves the next request for this path without a response. */
    hang(path: string): void;
    /** Valid credentials. */
    readonly credentials: Set<string>;
    requests(): readonly ReceivedRequest[];
    reset(): void;
  };
  stop(): Promise<void>;
}

const PROTOCOLS: Readonly<Record<Protocol, FixtureProtocol>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
};

/** Key that is valid from the start. */
export const FIXTURE_KEY = 'fixture-provider-key';

/**
 * Starts local model providers that speak the three protocols: no model, but deterministic responses, real usage
 * figures, keys that are checked, and any fault that a test asks for. Listens on 127.0.0.1 only and refuses to start in
 * production.
 */
export async function startProviders({
  port,
  log,
  isAccessToken = () => Promise.resolve(false),
}: {
  readonly port: number;
  readonly log: Log;
  /** Returns true for a valid token of the authorization server at which the provider signs people in. */
  readonly isAccessToken?: (credential: string) => Promise<boolean>;
}): Promise<FixtureProviders> {
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error('The fixture providers do not run in production.');
  }
  const credentials = new Set([FIXTURE_KEY]);
  const answers = new Map<string, { status: number; body: unknown } | 'hang'>();
  let scripts: Behaviour[] = [];
  let received: ReceivedRequest[] = [];

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, name = '', ...rest] = (request.url ?? '').split('/');
    const found = Object.entries(PROTOCOLS).find(([protocol]) => protocol === name);
    if (found === undefined) return sendJson(response, 404, { error: 'no such provider' });
    const [, protocol] = found;
    const target = `/${rest.join('/')}`;
    const path = target.split('?')[0] ?? '';
    const record: ReceivedRequest = {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a key of the table above
      protocol: name as Protocol,
      method: request.method ?? '',
      target,
      headers: request.headers,
      body: await readJson(request),
      aborted: false,
    };
    received.push(record);
    response.once('close', () => {
      record.aborted = !response.writableFinished;
    });
    const credential = protocol.credentialOf(request.headers);
    const isGood = credential !== undefined && (credentials.has(credential) || (await isAccessToken(credential)));
    if (!isGood) {
      return sendJson(response, 401, protocol.errorBody('authentication_error', 'Bad key.'));
    }
    const answer = answers.get(path);
    if (answer !== undefined) {
      answers.delete(path);
      if (answer === 'hang') return;
      return sendJson(response, answer.status, answer.body);
    }
    if (request.method === 'GET' && path === '/key') return sendJson(response, 200, { ok: true });
    if (request.method === 'GET' && path === '/models') {
      const after = new URL(target, 'http://fixture').searchParams.get('after_id');
      return sendJson(response, 200, modelPage(FIXTURE_ACCOUNT_MODELS, after));
    }
    if (request.method === 'POST' && path === protocol.completionPath) {
      const behaviour = scripts.shift() ?? { kind: 'normal' };
      return complete(response, protocol.read(record.body), protocol, behaviour);
    }
    sendJson(response, 404, protocol.errorBody('not_found', 'No such route.'));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      log(`The fixture provider refuses a request: ${String(error)}`);
      if (!response.headersSent) sendJson(response, 400, { error: { message: String(error) } });
      else response.destroy();
    });
  });
  const bound = await listenOn(server, { host: '127.0.0.1', port });
  const base = (protocol: Protocol) => `http://127.0.0.1:${bound}/${protocol}`;
  return {
    baseUrls: {
      'openai-chat': base('openai-chat'),
      'openai-responses': base('openai-responses'),
      'anthropic-messages': base('anthropic-messages'),
    },
    control: {
      script: (...behaviours) => scripts.push(...behaviours.map((each) => Behaviour.parse(each))),
      answer: (path, status, body) => answers.set(path, { status, body }),
      hang: (path) => answers.set(path, 'hang'),
      credentials,
      requests: () => received,
      reset() {
        scripts = [];
        received = [];
        answers.clear();
      },
    },
    stop: () => closeAtOnce(server),
  };
}
