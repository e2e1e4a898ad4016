import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { Log } from '../../lib/log.ts';
import type { Api } from './api.ts';
import { failure } from './failure.ts';
import { CONSTANT_HEADERS } from './headers.ts';

/**
 * Forwards requests for the API, so that a browser needs one origin only. Bodies are streamed both ways: an event
 * arrives when it is sent, and a client that disconnects also ends its request to the API.
 */
export function proxy(api: Api, log: Log): Middleware {
  return async (ctx, next) => {
    if (!/^\/(v1|auth|public)(\/|$)/.test(ctx.path)) return next();
    ctx.state.served = 'api';
    try {
      await forward(ctx, api);
    } catch (err) {
      // The browser has left and ended the request: the API did not fail.
      if (hasLeft(ctx)) ctx.status = CLIENT_LEFT;
      else {
        log.warn({ err, requestId: ctx.state.requestId }, 'the API cannot be reached');
        failure(ctx, 502, 'api_unreachable', 'The API cannot be reached. Try again in a moment.');
      }
    }
    return undefined;
  };
}

/** The status in the log when the client has left before the response, as in nginx. */
const CLIENT_LEFT = 499;

function hasLeft({ req }: Context): boolean {
  return req.socket.destroyed || (req.destroyed && !req.complete);
}

async function forward(ctx: Context, api: Api): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = api.request(ctx.req.url ?? '/', {
      method: ctx.method,
      headers: forwardedHeaders(ctx),
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.once('timeout', () => request.destroy(new Error('No response in time.')));
    // The browser may also leave during the response: the API then stops its work for the request.
    ctx.res.once('close', () => request.destroy());
    pipeline(ctx.req, request, () => undefined);
  });
  ctx.status = response.statusCode ?? 502;
  for (const [name, value] of Object.entries(response.headers)) {
    if (value === undefined || HOP_BY_HOP.has(name) || CONSTANT_HEADERS.has(name)) continue;
    ctx.set(name, value);
  }
  // Koa ends the response with the stream, and destroys the stream with the response.
  ctx.body = response;
  restoreLength(ctx, response.headers);
  ctx.flushHeaders();
}

/** Restores `Content-Length`, which Koa may remove when the body is set. */
function restoreLength(ctx: Context, headers: IncomingHttpHeaders): void {
  if (headers['content-type'] === undefined) ctx.remove('Content-Type');
  if (headers['content-length'] !== undefined) ctx.set('Content-Length', headers['content-length']);
}

/** Headers of one connection only (RFC 9110, section 7.6.1), and those that this server sets itself. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const OURS: ReadonlySet<string> = new Set([
  'expect',
  'forwarded',
  'host',
  'x-client-address',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
]);

/** Returns the browser's headers, `Origin` and cookie among them, with the browser's address for the API. */
export function forwardedHeaders(ctx: Context): OutgoingHttpHeaders {
  const named = new Set(
    ctx
      .get('connection')
      .toLowerCase()
      .split(/\s*,\s*/),
  );
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(ctx.req.headers)) {
    if (HOP_BY_HOP.has(name) || OURS.has(name) || named.has(name)) continue;
    headers[name] = value;
  }
  if (ctx.get('transfer-encoding') !== '') headers['transfer-encoding'] = 'chunked';
  const before = ctx.get('x-forwarded-for');
  const address = ctx.req.socket.remoteAddress ?? '';
  headers['x-forwarded-for'] = before === '' ? address : `${before}, ${address}`;
  headers['x-request-id'] = String(ctx.state.requestId);
  return headers;
}
