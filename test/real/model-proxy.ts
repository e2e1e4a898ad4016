import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

/** Body of a chat completion; tests read it freely. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
type Body = any;

export interface ModelProxy {
  readonly url: string;
  /** What the service sent, as it sent it. */
  readonly bodies: Body[];
  /** Requests that the server is working on. */
  underWay(): number;
  /** Has the model write and write, until somebody stops it. */
  endless: boolean;
  stop(): Promise<void>;
}

/**
 * Stands before the model server and makes up for how little so small a model can do: it is made to write one sentence,
 * and to call a tool where tools are on offer and none has been called. Everything else is as the service and the
 * server have it.
 */
export async function startModelProxy(target: string): Promise<ModelProxy> {
  let underWay = 0;
  const server = createServer((request, response) => {
    underWay += 1;
    pass(request, response)
      .catch(() => response.destroy())
      .finally(() => (underWay -= 1));
  });
  const proxy: ModelProxy = {
    url: `http://127.0.0.1:${await listenOn(server, { host: '127.0.0.1', port: 0 })}/v1`,
    bodies: [],
    underWay: () => underWay,
    endless: false,
    stop: () => closeAtOnce(server),
  };
  return proxy;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { method = 'GET', url = '' } = request;
    const sent = await text(request);
    let body: string | undefined;
    if (sent !== '') {
      const asked: Body = JSON.parse(sent);
      proxy.bodies.push(asked);
      body = JSON.stringify(proxy.endless ? written(asked) : steered(asked));
    }
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      signal: gone.signal,
    });
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    });
    if (answer.body === null) return void response.end();
    await pipeline(Readable.fromWeb(answer.body as never), response);
  }
}

const SENTENCE = 'root ::= "It is " [a-z]{3,12} "."';

function steered(body: Body): Body {
  if (body.response_format !== undefined) return body;
  const isFirst = body.messages.every(({ role }: Body) => role !== 'tool');
  if (body.tools !== undefined && isFirst) {
    return { ...body, tool_choice: 'required', parallel_tool_calls: false };
  }
  // The server takes a grammar beside tools only where none may be called.
  const noCall = body.tools === undefined ? {} : { tool_choice: 'none' };
  return { ...body, ...noCall, grammar: SENTENCE };
}

function written(body: Body): Body {
  return { ...body, max_tokens: 8_000, ignore_eos: true };
}
