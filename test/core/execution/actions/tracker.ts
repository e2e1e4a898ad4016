import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOn } from '#lib/listen.ts';
import type { Json } from '../../integrations/tools/support.ts';

const ISSUE = {
  type: 'object',
  properties: { title: { type: 'string', maxLength: 200 }, priority: { type: 'number' }, url: { type: 'string' } },
  required: ['title'],
};
const COMMENT = {
  type: 'object',
  properties: { issue: { type: 'integer' }, text: { type: 'string' } },
  required: ['issue', 'text'],
};

/** An issue tracker as a tool server, which keeps the received calls. */
export interface Tracker {
  readonly url: string;
  /** The received calls, in order. */
  readonly calls: { readonly name: string; readonly arguments: Json }[];
  /** Capabilities that the client has declared, in order. */
  readonly declared: Json[];
  /** Answers every request with this status, or drops it; undefined restores normal answers. */
  away: number | 'dropped' | undefined;
  /** True to drop the connection of each call after it has arrived. */
  breaks: boolean;
  /** Answers each call with this status instead of a result; undefined restores normal answers. */
  refuses: number | undefined;
  /** True if the tools claim that a repeated call has no further effect. */
  isIdempotent: boolean;
  /** Answers calls only after this has resolved. */
  held: Promise<void> | undefined;
  /** Description of the tools, which is a part of their definition. */
  description: string;
  /** Changes the definition of a tool on the list. */
  changed: (tool: Json) => Json;
  /** Answers a call. Default the number of the issue. */
  answer: (name: string, args: Json) => Json;
  stop(): Promise<void>;
}

export async function startTracker(): Promise<Tracker> {
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  const tracker: Tracker = {
    url: '',
    calls: [],
    declared: [],
    away: undefined,
    breaks: false,
    refuses: undefined,
    isIdempotent: false,
    held: undefined,
    description: 'Files something.',
    changed: (tool) => tool,
    answer: () => {
      const number = tracker.calls.length;
      return {
        content: [{ type: 'text', text: `number ${number}` }],
        structuredContent: { id: number, title: 'filed' },
      };
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  await listenOn(server, { host: '127.0.0.1', port: 0 });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await text(request));
    if (tracker.away === 'dropped') return void response.destroy();
    if (tracker.away !== undefined) return void response.writeHead(tracker.away).end();
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'initialize') tracker.declared.push(params.capabilities);
    if (method === 'tools/call' && tracker.refuses !== undefined) return void response.writeHead(tracker.refuses).end();
    if (method === 'tools/call') tracker.calls.push(params);
    if (method === 'tools/call') await tracker.held;
    if (method === 'tools/call' && tracker.breaks) return void response.destroy();
    const result = resultOf(method, params);
    const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  }

  function resultOf(method: string, params: Json): Json {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'tracker', version: '1' },
        };
      case 'tools/list': {
        const { description, isIdempotent } = tracker;
        const annotations = { idempotentHint: isIdempotent };
        return {
          tools: [
            { name: 'create_issue', description, annotations, inputSchema: ISSUE },
            { name: 'comment', description, annotations, inputSchema: COMMENT },
          ].map(tracker.changed),
        };
      }
      case 'tools/call':
        return tracker.answer(params.name, params.arguments);
      case 'ping':
        return {};
      default:
        return undefined;
    }
  }

  return Object.assign(tracker, { url: `http://127.0.0.1:${address.port}/mcp` });
}
