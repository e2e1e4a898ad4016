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
  /** The requests exactly as the service sent them. */
  readonly bodies: Body[];
  /** Requests that the server is working on. */
  underWay(): number;
  /** Has the model write until it is stopped. */
  endless: boolean;
  /** The chat template has the model think before it responds. */
  thinks: boolean;
  stop(): Promise<void>;
}

/**
 * Stands before the model server and makes up for how little so small a model can do. It is made to write one sentence.
 * Where tools are on offer and none has been called, it writes the arguments of the first, and the call
 * is made of that here: `tool_choice: required` still lets it write on for ever before it calls. Everything else is as
 * the service and the server have it.
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

/** Has the model write one sentence, or what the service's own schema asks for. */
function steered(body: Body, thinks: boolean): Body {
  const { response_format: format, ...rest } = body;
  if (format !== undefined) {
    // Where a model may think first, so small a one thinks for ever: the schema holds only after that.
    return thinks ? { ...rest, ...grammar(objectOf(format.json_schema.schema), thinks) } : body;
  }
  // The server takes a grammar beside tools only where none may be called.
  const noCall = body.tools === undefined ? {} : { tool_choice: 'none' };
  return { ...body, ...noCall, ...grammar(SENTENCE, thinks) };
}

/** Has the model write the arguments of the first tool and nothing else. */
function argumentsOnly({ tools, ...body }: Body, thinks: boolean): Body {
  const arguments_ = grammar(objectOf(tools[0].function.parameters), thinks);
  const plain = { tool_choice: undefined, stream: false, stream_options: undefined };
  return { ...body, ...plain, ...arguments_ };
}

/** Returns the field of a request that holds the model to this (GBNF). */
function grammar(answer: string, thinks: boolean): { grammar: string } {
  return { grammar: `root ::= ${thinks ? '"I wonder.</think>" ' : ''}${answer}` };
}

/** Returns the grammar of an object with all properties of the schema, which are texts or truth values. */
function objectOf({ properties }: Body): string {
  const members = Object.entries<Body>(properties).map(
    ([name, { type }]) => `"\\"${name}\\": " ${type === 'string' ? TEXT : '("true" | "false")'}`,
  );
  return `"{" ${members.join(' ", " ')} "}"`;
}

const TEXT = String.raw`"\"" [a-z ]{3,20} "\""`;

/** Responds with a call of the first tool, in the stream that was asked for or in one body. */
function respondWithCall(response: ServerResponse, { tools, stream }: Body, answer: Body): void {
  const [{ message }] = answer.choices;
  const call = { name: tools[0].function.name, arguments: message.content };
  // Mistral's template takes an id of nine letters and digits only, which its servers give out.
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
