import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { ApiError, handle } from './api.ts';
import { deliver } from './delivery.ts';
import { parseForm, text } from './form.ts';
import { Ledger } from './ledger.ts';
import type { PaymentEvent } from './objects.ts';
import { visitCheckout, visitPortal, type Visit } from './pages.ts';

/** A fault of the next matching request. Each fault is used once. */
export interface ProcessorFault {
  /** Method and path, like `GET subscriptions`; by default the fault is for any request. */
  readonly of?: string;
  readonly kind:
    | { readonly name: 'delay'; readonly ms: number }
    | { readonly name: 'hold'; readonly until: Promise<void> }
    | { readonly name: 'rate_limit' }
    /** Performs the request and responds with an error. */
    | { readonly name: 'error_after' }
    /** Performs the request and sends no response. */
    | { readonly name: 'cut_after' }
    | { readonly name: 'unauthorized' }
    /** Does not perform the request, and responds with this error. */
    | { readonly name: 'refused'; readonly status: number; readonly body: unknown }
    /** Responds with an earlier state after a delay, like a replica that lags. */
    | { readonly name: 'stale'; readonly body: unknown; readonly ms: number };
}

export interface PaymentProcessor {
  /** Destination of events. A test sets it when its service is ready. */
  endpoint: Endpoint;
  readonly url: string;
  readonly ledger: Ledger;
  /** Faults of the next requests, in order. */
  readonly faults: ProcessorFault[];
  /** Every request to the API of the processor, as method and path. */
  readonly requests: string[];
  /** True if events are sent as they happen. A test that sends events by hand sets this to false. */
  delivers: boolean;
  /** Sends an event now, also one that was sent before. */
  send(event: PaymentEvent): Promise<number>;
  stop(): Promise<void>;
}

export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

export interface ProcessorOptions {
  readonly port: number;
  readonly secretKey: string;
  readonly endpoint: Endpoint;
}

/**
 * Starts a payment processor that moves no money: the part of Stripe's API that the service uses, with state, a clock,
 * hosted pages and signed events.
 */
export async function startPaymentProcessor(options: ProcessorOptions): Promise<PaymentProcessor> {
  const sending = new Set<Promise<unknown>>();
  const ledger = new Ledger((event) => {
    if (!processor.delivers) return;
    const sent = deliver(event, processor.endpoint).finally(() => sending.delete(sent));
    sending.add(sent);
  });
  const saved = new Map<string, { request: string; status: number; body: unknown }>();
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      sendJson(response, 500, { error: { type: 'api_error', message: String(error) } });
    });
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: options.port });
  const origin = `http://127.0.0.1:${port}`;
  const processor: PaymentProcessor = {
    url: origin,
    endpoint: options.endpoint,
    ledger,
    faults: [],
    requests: [],
    delivers: true,
    send: (event) => deliver(event, processor.endpoint),
    async stop() {
      await closeAtOnce(server);
      await Promise.allSettled(sending);
    },
  };
  return processor;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    const body = await readText(request);
    if (!url.pathname.startsWith('/v1/')) return servePage(ledger, { url, body }, response);
    const method = request.method ?? 'GET';
    const path = url.pathname.slice('/v1/'.length);
    processor.requests.push(`${method} ${path}`);
    const fault = takeFault(processor.faults, `${method} ${path}`);
    if (fault?.name === 'delay') await sleep(fault.ms);
    if (fault?.name === 'hold') await fault.until;
    const authorized = request.headers.authorization === `Bearer ${options.secretKey}`;
    if (!authorized || fault?.name === 'unauthorized') {
      return sendJson(response, 401, {
        error: { type: 'invalid_request_error', message: 'Invalid API Key' },
      });
    }
    if (fault?.name === 'rate_limit') {
      return sendJson(response, 429, {
        error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Slow down.' },
      });
    }
    if (fault?.name === 'refused') return sendJson(response, fault.status, fault.body);
    if (fault?.name === 'stale') {
      await sleep(fault.ms);
      return sendJson(response, 200, fault.body);
    }
    const key = request.headers['idempotency-key'];
    const known = typeof key === 'string' ? saved.get(key) : undefined;
    const asked = `${method} ${path} ${body}`;
    if (known !== undefined && known.request !== asked) {
      const message = 'An idempotency key belongs to one request.';
      return sendJson(response, 400, { error: { type: 'idempotency_error', message } });
    }
    let result: { status: number; body: unknown } =
      known ?? carryOut({ method, path, form: parseForm(method === 'GET' ? url.search.slice(1) : body) });
    if (fault?.name === 'error_after') {
      result = {
        status: 500,
        body: { error: { type: 'api_error', message: 'An error of theirs.' } },
      };
    }
    if (typeof key === 'string') saved.set(key, { request: asked, ...result });
    if (fault?.name === 'cut_after') return void response.socket?.destroy();
    return sendJson(response, result.status, result.body);
  }

  function carryOut(request: Parameters<typeof handle>[2]): { status: number; body: unknown } {
    try {
      return { status: 200, body: handle(ledger, origin, request) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, param } = error;
      return {
        status: error.status,
        body: { error: { type: 'invalid_request_error', code, message, param } },
      };
    }
  }
}

function takeFault(faults: ProcessorFault[], name: string): ProcessorFault['kind'] | undefined {
  const at = faults.findIndex(({ of }) => of === undefined || name.startsWith(of));
  return at === -1 ? undefined : faults.splice(at, 1)[0]?.kind;
}

function servePage(ledger: Ledger, { url, body }: { url: URL; body: string }, response: ServerResponse): void {
  const [, page, id = ''] = url.pathname.split('/');
  const choice = text(parseForm(body), 'choice');
  const session = ledger.sessions.get(id);
  const portal = ledger.portals.get(id);
  let visit: Visit | undefined;
  if (page === 'pay' && session !== undefined) visit = visitCheckout(ledger, session, choice);
  if (page === 'portal' && portal !== undefined) {
    const [action, price] = choice?.split(':') ?? [];
    visit = visitPortal(ledger, portal, { action, price });
  }
  if (visit === undefined) return void response.writeHead(404).end('There is no such page.');
  if ('location' in visit) return void response.writeHead(303, { Location: visit.location }).end();
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(visit.html);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': 'req_local' });
  response.end(JSON.stringify(body));
}
