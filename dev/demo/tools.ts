import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { OWN_PATHS, pageAsText, readPage, SITE } from './pages.ts';
import { RIVALS } from './rivals.ts';
import { READ_PAGE } from './written.ts';

/**
 * Serves the demo's tool over MCP (2025-06-18, without sessions) on 127.0.0.1. The tool reads pages of an invented web.
 * @returns the address of its endpoint
 */
export async function serveDemoTools(port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  const bound = await listenOn(server, { host: '127.0.0.1', port });
  return { url: `http://127.0.0.1:${bound}/web/mcp`, stop: () => closeAtOnce(server) };
}

const rpc = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string(),
  params: z.looseObject({ name: z.string().default(''), arguments: z.unknown().optional() }).prefault({}),
});

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = rpc.parse(JSON.parse(await text(request)));
  if (id === undefined) return void response.writeHead(202).end();
  const result = RESULTS[method]?.(params, request.url === '/mcp' ? ECHO : READER);
  const body = result === undefined ? { error: NO_METHOD } : { result };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
}

const NO_METHOD = { code: -32601, message: 'Method not found' };

type Params = z.output<typeof rpc>['params'];

const RESULTS: Readonly<Record<string, (params: Params, tool: Tool) => object>> = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'demo', title: 'A made-up web', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': (_, { call: _call, ...definition }) => ({ tools: [definition] }),
  'tools/call': ({ name, arguments: args }, tool) =>
    tool.name === name ? tool.call(args) : failed(`There is no tool ${name}.`),
};

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: object;
  readonly call: (args: unknown) => object;
}

const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };

function input(name: string, description: string) {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { [name]: { type: 'string', description } },
    required: [name],
  };
}

const READER: Tool = {
  name: READ_PAGE,
  title: 'Read a page',
  description: 'Reads a web page, with its status, the time that it took, its title and its text',
  inputSchema: input('url', 'Address of the page'),
  annotations: { ...READ_ONLY, openWorldHint: true },
  call(args) {
    const { url = '' } = z
      .looseObject({ url: z.string() })
      .partial()
      .parse(args ?? {});
    const page = readPage(url, { at: new Date(), age: 0, weeks: 0 });
    return page === undefined ? failed(UNKNOWN) : said(pageAsText(page));
  },
};

/** The tool of older demos, with the whole definition that was confirmed then. */
const ECHO: Tool = {
  name: 'echo',
  title: 'Echo Tool',
  description: 'Echoes back the input string',
  inputSchema: input('message', 'Message to echo'),
  annotations: { ...READ_ONLY, openWorldHint: false },
  call(args) {
    const { message = '' } = z
      .looseObject({ message: z.string() })
      .partial()
      .parse(args ?? {});
    return said(`Echo: ${message}`);
  },
};

const PAGES = [...OWN_PATHS.map((path) => SITE + path), ...RIVALS.map(({ pricing }) => pricing)];
const UNKNOWN = `This demo has a made-up web with these pages only: ${PAGES.join(' ')}`;

function said(words: string) {
  return { content: [{ type: 'text', text: words }] };
}

function failed(words: string) {
  return { ...said(words), isError: true };
}
