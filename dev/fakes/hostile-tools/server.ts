import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseExact } from '#lib/exact-json/parse.ts';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import type { HostileControl, Scenario, ToolClaim } from './control.ts';
import { SCENARIOS, type Exchange } from './scenarios.ts';

export interface HostileTools {
  /** The MCP endpoint with this behaviour. */
  url(scenario: Scenario): string;
  readonly control: HostileControl;
  stop(): Promise<void>;
}

const message = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().default(''),
  params: z.looseObject({ name: z.string().default(''), cursor: z.string().optional() }).default({ name: '' }),
});

/**
 * Starts a tool server that misbehaves in another way at each path. It speaks only the parts of the protocol that its
 * faults need: MCP 2025-06-18, usually without sessions. Listens on 127.0.0.1 only, on a free port by default.
 */
export async function startHostileTools({ port: wanted = 0 } = {}): Promise<HostileTools> {
  const control: HostileControl = {
    tools: [],
    answer: () => 'ok',
    credential: '',
    delayMs: 0,
    drops: undefined,
    held: undefined,
    becomes: undefined,
    calls: [],
    seen: [],
    reset() {
      control.tools = DEFAULT_TOOLS;
      control.answer = () => 'ok';
      control.credential = '';
      control.delayMs = 0;
      control.drops = undefined;
      control.held = undefined;
      control.becomes = undefined;
      control.calls.length = 0;
      control.seen.length = 0;
    },
  };
  control.reset();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = (request.url ?? '').split('/')[1] ?? '';
    const scenario = control.becomes ?? (isScenario(name) ? name : 'honest');
    if (request.method !== 'POST') {
      control.seen.push(`${request.method}`);
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = message.parse(parseExact(await text(request)));
    control.seen.push(method);
    if (control.drops?.method === method && control.drops.times > 0) {
      control.drops.times -= 1;
      request.socket.destroy();
      return;
    }
    if (method === 'tools/call') {
      const { name: tool, arguments: args } = params;
      const { headers, url: path = '' } = request;
      control.calls.push({ scenario, name: tool, arguments: args, headers, path });
    }
    const exchange: Exchange = { id, method, params, request, response, control };
    await SCENARIOS[scenario](exchange);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: wanted });
  return {
    url: (scenario) => `http://127.0.0.1:${port}/${scenario}/mcp`,
    control,
    stop: () => closeAtOnce(server),
  };
}

const DEFAULT_TOOLS: ToolClaim[] = [
  {
    name: 'lookup',
    description: 'Looks something up.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' } },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'send_message',
    description: 'Sends a message.',
    inputSchema: {
      type: 'object',
      properties: { to: { type: 'string' }, text: { type: 'string' } },
      required: ['to'],
    },
  },
];

function isScenario(name: string): name is Scenario {
  return Object.hasOwn(SCENARIOS, name);
}
