import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { answer, READING, text, WRITING, type OddCase, type OddReply, type OddRequest } from './odd-case.ts';

export interface OddToolServer {
  /** The MCP endpoint with the behaviour of this case. */
  url(each: OddCase): string;
  /** Names of the tools that the server has carried out in this case. */
  acts(each: OddCase): readonly string[];
  stop(): Promise<void>;
}

const message = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().default(''),
  params: z.looseObject({ name: z.string().default(''), cursor: z.string().optional() }).default({ name: '' }),
});

interface State {
  readonly seen: string[];
  readonly acts: string[];
  readonly sessions: Set<string>;
  lastId: number | string;
}

/** Makes the request of a client that resumes the stream of its last request. */
function resuming({ lastId }: State): z.output<typeof message> {
  return { id: lastId, method: 'GET', params: { name: '' } };
}

/** Starts a tool server with a path of its own for each case. Listens on 127.0.0.1, on a free port. */
export async function startOddToolServer(cases: readonly OddCase[]): Promise<OddToolServer> {
  const states = new Map(
    cases.map((each): [OddCase, State] => [each, { seen: [], acts: [], sessions: new Set(), lastId: 0 }]),
  );
  const stateOf = (each: OddCase): State => {
    const state = states.get(each);
    if (state === undefined) throw new Error(`no case "${each.name}"`);
    return state;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const each = cases[Number((request.url ?? '').split('/')[1])];
    const isResuming = request.method === 'GET' && request.headers['last-event-id'] !== undefined;
    if (each === undefined || !(isResuming || request.method === 'POST')) return void response.writeHead(405).end();
    const state = stateOf(each);
    const { id, method, params } = isResuming ? resuming(state) : message.parse(JSON.parse(await textOf(request)));
    if (each.delayMs !== undefined) await sleep(each.delayMs);
    if (id === undefined) return void response.writeHead(202).end();
    state.seen.push(method);
    state.lastId = id;
    const asked: OddRequest = {
      id,
      method,
      tool: params.name,
      cursor: params.cursor,
      nth: state.seen.filter((seen) => seen === method).length,
      act: () => void state.acts.push(params.name),
      forget: () => state.sessions.clear(),
    };
    const session = request.headers['mcp-session-id'];
    const isKnown = each.sessions === undefined || method === 'initialize' || method === 'server/discover';
    if (!isKnown && !state.sessions.has(String(session))) return void response.writeHead(404).end();
    if (each.sessions !== undefined && method === 'initialize') {
      const given = `session-${state.seen.length}`;
      state.sessions.add(given);
      response.setHeader('mcp-session-id', given);
    }
    write(response, each.reply(asked) ?? usual(asked));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 });
  return {
    url: (each) => `http://127.0.0.1:${port}/${cases.indexOf(each)}/mcp`,
    acts: (each) => stateOf(each).acts,
    stop: () => closeAtOnce(server),
  };
}

function write(response: ServerResponse, reply: OddReply): void {
  const { status = 200, type = 'application/json', headers, body, text: given } = reply;
  const written = given ?? (body === undefined ? '' : JSON.stringify(body));
  response.writeHead(status, { 'content-type': type, ...headers }).end(written);
}

/** Answers as a server without a fault. */
function usual(request: OddRequest): OddReply {
  switch (request.method) {
    case 'initialize':
      return answer(request, {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'odd-tools', version: '1' },
      });
    case 'tools/list':
      return answer(request, { tools: [READING, WRITING] });
    case 'tools/call':
      request.act();
      return answer(request, text(`${request.tool} is done`));
    case 'ping':
      return answer(request, {});
    default:
      return { body: { jsonrpc: '2.0', id: request.id, error: { code: -32601, message: 'Method not found' } } };
  }
}
