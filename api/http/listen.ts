import { createServer, type RequestListener } from 'node:http';
import type { Context, Next } from 'koa';
import { AppError } from '#lib/errors.ts';
import { CLOSE_GRACE_MS, gracefulClose, HTTP_LIMITS, listenOn, refuseMalformed } from '#lib/listen.ts';

export interface RunningServer {
  readonly port: number;
  /** Takes no new request, gives running requests up to 20 seconds, then cuts them off. */
  close(): Promise<void>;
}

/** Listens with limits, and responds to malformed HTTP with the error envelope. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(
    {
      ...HTTP_LIMITS,
      // `strictHttp` refuses a request without Host, with the envelope of all other errors.
      requireHostHeader: false,
    },
    handler,
  );
  // Node silently drops headers above this number; `strictHttp` refuses requests with more than half as many.
  server.maxHeadersCount = 2 * MAX_HEADERS;
  // Do not send `100 Continue` here: it is sent when the body is read, after authentication.
  server.on('checkContinue', handler);
  server.on('checkExpectation', handler);
  server.on('clientError', refuseMalformed({ 'X-Content-Type-Options': 'nosniff' }));
  const close = gracefulClose(server);
  return { port: await listenOn(server, { host, port }), close: () => close(CLOSE_GRACE_MS) };
}

/** The limit of header fields, above the need of any client. */
const MAX_HEADERS = 100;

/**
 * Refuses requests that Node's parser accepts and proxies read differently (RFC 9112, sections 3.2 and 6.1): no Host
 * header or two, an absolute-form target, a transfer coding other than chunked, and more than `MAX_HEADERS` headers.
 */
export function strictHttp(ctx: Context, next: Next): Promise<void> {
  const { rawHeaders, headers, url } = ctx.req;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length;
  if (hosts > 1) throw new AppError('invalid_request', 'More than one Host header.');
  if (hosts === 0 && ctx.req.httpVersion !== '1.0') {
    throw new AppError('invalid_request', 'No Host header.');
  }
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new AppError('invalid_request', `More than ${MAX_HEADERS} headers.`);
  }
  if (url?.startsWith('/') !== true) {
    throw new AppError('invalid_request', 'The request target must be a path.');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new AppError('invalid_request', 'No transfer coding other than chunked is accepted.');
  }
  return next();
}
