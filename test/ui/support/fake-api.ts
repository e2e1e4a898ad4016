import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isEndState, type RunState } from '#core/execution/run-states/index.ts';
import { closeAtOnce } from '#lib/listen.ts';
import { document, type Schema } from '#test/contract/agreement.ts';
import type { paths } from '../../../ui/src/api/schema.d.ts';
import type { DataOf, Method } from '../../../ui/src/api/types.ts';
import { assertFits, smallest } from './sample.ts';

/** The parts of a request that an answer may depend on. */
export interface Asked {
  readonly query: URLSearchParams;
  /** Parameters of the path, by name. */
  readonly of: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A page of a list, with the cursor of the next one. */
export class Page<Items> {
  readonly items: Items;
  readonly next: string;

  constructor(items: Items, next: string) {
    this.items = items;
    this.next = next;
  }
}

export interface Answer {
  readonly method: Method;
  readonly path: keyof paths;
  readonly make: (asked: Asked) => unknown;
}

/** Sets the response of an operation: its data, or a function of the request. */
export function answer<P extends keyof paths, M extends Method>(
  method: M,
  path: P,
  data: DataOf<P, M> | ((asked: Asked) => DataOf<P, M> | Page<DataOf<P, M>>),
): Answer {
  return { method, path, make: typeof data === 'function' ? (data as (asked: Asked) => unknown) : () => data };
}

export interface FakeApi {
  readonly url: string;
  /** Requests since the answers were set, like `GET /v1/runs?limit=50`. */
  readonly asked: readonly string[];
  /** Requests that the API would have refused, or that have no answer. A test must have none. */
  readonly faults: string[];
  /** Sets the answers. Later ones take precedence over earlier ones. */
  serve(...answers: readonly Answer[]): void;
  stop(): Promise<void>;
}

/**
 * Starts a fake API for pages in a given state. It serves only the operations of the document, and refuses requests and
 * responses that do not fit the document's schemas. A read without an answer gets the smallest response that its schema
 * allows: an empty list, a null.
 */
export async function startFakeApi(): Promise<FakeApi> {
  let answers: readonly Answer[] = [];
  const asked: string[] = [];
  const faults: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    respond(request, response, answers).catch((error: unknown) => {
      faults.push(`${request.method} ${request.url}: ${String(error)}`);
      send(response, 500, { error: { code: 'internal', message: 'The fake has no answer.' }, requestId: REQUEST_ID });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    faults,
    serve(...given) {
      answers = given.toReversed();
      asked.length = 0;
    },
    stop: () => closeAtOnce(server),
  };
}

const REQUEST_ID = '6b2f0a3e-5d0c-4a43-9d7e-2f6f6c0a9b11';

async function respond(request: IncomingMessage, response: ServerResponse, answers: readonly Answer[]): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://api');
  const method = (request.method ?? '').toLowerCase();
  const operation = operationAt(method, pathname);
  if (operation === undefined) throw new Error('no operation of the API');
  const body = await bodyOf(request);
  assertAsked(operation.spec, query, body);
  const answerAt = (path: string) => answers.find((each) => each.method === method && each.path === path);
  if (operation.path === '/v1/runs/{runId}/events') {
    sendEvents(response, answerAt('/v1/runs/{runId}')?.make({ query, of: operation.parameters, body }));
    return;
  }
  const found = answerAt(operation.path);
  const [status, schema] = successOf(operation.spec);
  const dataSchema = schema.properties?.['requestId'] === undefined ? schema : schema.properties['data']!;
  if (found === undefined && method !== 'get') throw new Error('it has no answer');
  const made = found === undefined ? smallest(dataSchema) : found.make({ query, of: operation.parameters, body });
  const data = made instanceof Page ? made.items : made;
  const sent = dataSchema === schema ? data : { data, requestId: REQUEST_ID };
  assertFits(schema, sent, `response of ${operation.path}`);
  if (made instanceof Page) response.setHeader('Link', `<http://api${pathname}?cursor=${made.next}>; rel="next"`);
  if (typeof data === 'object' && data !== null && 'version' in data) response.setHeader('ETag', `"${data.version}"`);
  send(response, status, sent);
}

/** Streams the state of a run, and ends the stream of an ended run. Streams of other runs stay open, without events. */
function sendEvents(response: ServerResponse, run: unknown): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': open\n\n');
  const { steps = [], ...state } = (run ?? {}) as { state?: RunState; steps?: readonly { state: string }[] };
  if (state.state === undefined) return;
  const send = (event: string, data: unknown) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  for (const step of steps.filter((each) => each.state !== 'started')) send('step', step);
  send('state', state);
  if (isEndState(state.state)) response.end();
}

type Spec = (typeof document.paths)[string][string];

function operationAt(method: string, pathname: string) {
  const matches = Object.entries(document.paths).flatMap(([path, { [method]: spec }]) => {
    const parameters = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(pathname);
    return spec === undefined || parameters === null ? [] : [{ path, spec, parameters: { ...parameters.groups } }];
  });
  // A path without parameters comes before a path that would read its last part as an id.
  return matches.toSorted((a, b) => Object.keys(a.parameters).length - Object.keys(b.parameters).length)[0];
}

function assertAsked({ parameters = [], requestBody }: Spec, query: URLSearchParams, body: unknown): void {
  const known = parameters.map((each) =>
    '$ref' in each ? document.components.parameters[each.$ref.split('/').at(-1)!]! : each,
  );
  for (const [name, written] of query) {
    const parameter = known.find((each) => each.in === 'query' && each.name === name);
    if (parameter === undefined) throw new Error(`it takes no ${name}`);
    const { type } = parameter.schema;
    const value: unknown = type === 'integer' || type === 'boolean' ? JSON.parse(written) : written;
    assertFits(parameter.schema, value, `query ${name}`);
  }
  if (requestBody !== undefined) assertFits(requestBody.content['application/json'].schema, body, 'request');
}

function successOf({ responses }: Spec): [status: number, schema: Schema] {
  for (const [status, response] of Object.entries(responses)) {
    const json = 'content' in response ? response.content?.['application/json'] : undefined;
    if (status.startsWith('2') && json !== undefined) return [Number(status), json.schema];
  }
  throw new Error('it has no JSON to respond with');
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const body = await text(request);
  return body === '' ? undefined : JSON.parse(body);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': REQUEST_ID });
  response.end(JSON.stringify(body));
}
