import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

/** Body of a chat completion, of any type. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
type Body = any;

export interface ModelProxy {
  readonly url: string;
  /** The requests exactly as the service sent them. */
  readonly bodies: Body[];
  /** Counts the requests that the server is working on. */
  underWay(): number;
  /** True to make the model write until it is stopped. */
  endless: boolean;
  /** True if the chat template makes the model think before it responds. */
  thinks: boolean;
  stop(): Promise<void>;
}

/**
 * Starts a proxy before the model server that makes up for the limits of a very small model, and makes the model write
 * one sentence. If tools are offered and none was called, the model writes the arguments of the first tool, and the
 * proxy makes the call from them: with `tool_choice: required` the model might write forever before it calls.
 * Everything else passes unchanged.
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
    thinks: false,
    stop: () => closeAtOnce(server),
  };
  return proxy;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { method = 'GET', url = '' } = request;
    const sent = await text(request);
    const asked: Body = sent === '' ? undefined : JSON.parse(sent);
    if (asked !== undefined) proxy.bodies.push(asked);
    const ask = (body: Body) =>
      fetch(`${target}${url}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: gone.signal,
      });
    if (asked !== undefined && mustCall(asked)) {
      const answer = await ask(argumentsOnly(asked, proxy.thinks));
      if (answer.ok) return respondWithCall(response, asked, (await answer.json()) as Body);
    }
    const answer = await ask(asked === undefined || proxy.endless ? written(asked) : steered(asked, proxy.thinks));
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    });
    if (answer.body === null) return void response.end();
    await pipeline(Readable.fromWeb(answer.body as never), response);
  }
}

const SENTENCE = '"It is " [a-z]{3,12} "."';

function mustCall({ tools, messages }: Body): boolean {
  return tools !== undefined && messages.every(({ role }: Body) => role !== 'tool');
}

/** Makes the model write one sentence, or the object of the request's own schema. */
function steered(body: Body, thinks: boolean): Body {
  const { response_format: format, ...rest } = body;
  if (format !== undefined) {
    // If the model may think first, it thinks forever, because the schema applies only after the thoughts.
    return thinks ? { ...rest, ...grammar(objectOf(format.json_schema.schema), thinks) } : body;
  }
  // The server accepts a grammar beside tools only if no tool may be called.
  const noCall = body.tools === undefined ? {} : { tool_choice: 'none' };
  return { ...body, ...noCall, ...grammar(SENTENCE, thinks) };
}

/** Makes the model write only the arguments of the first tool. */
function argumentsOnly({ tools, ...body }: Body, thinks: boolean): Body {
  const arguments_ = grammar(objectOf(tools[0].function.parameters), thinks);
  const plain = { tool_choice: undefined, stream: false, stream_options: undefined };
  return { ...body, ...plain, ...arguments_ };
}

/** Returns the field of a request that limits the model to this grammar (GBNF). */
function grammar(answer: string, thinks: boolean): { grammar: string } {
  return { grammar: `root ::= ${thinks ? '"I wonder.</think>" ' : ''}${answer}` };
}

/** Returns the grammar of an object with all properties of the schema, which are texts or booleans. */
function objectOf({ properties }: Body): string {
  const members = Object.entries<Body>(properties).map(
    ([name, { type }]) => `"\\"${name}\\": " ${type === 'string' ? TEXT : '("true" | "false")'}`,
  );
  return `"{" ${members.join(' ", " ')} "}"`;
}

const TEXT = String.raw`"\"" [a-z ]{3,20} "\""`;

/** Responds with a call of the first tool, as a stream or as one body, like the request. */
function respondWithCall(response: ServerResponse, { tools, stream }: Body, answer: Body): void {
  const [{ message }] = answer.choices;
  const call = { name: tools[0].function.name, arguments: message.content };
  // Mistral's template accepts only ids of nine letters and digits, like those of its servers.
  const calls = [{ index: 0, id: 'abcdef123', type: 'function', function: call }];
  const delta = { role: 'assistant', content: null, tool_calls: calls };
  const choice = { index: 0, finish_reason: 'tool_calls' };
  if (stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ ...answer, choices: [{ ...choice, message: delta }] }));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = { ...answer, object: 'chat.completion.chunk', choices: [{ ...choice, delta }] };
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

function written(body: Body): Body {
  return body === undefined ? body : { ...body, max_tokens: 8_000, ignore_eos: true };
}
