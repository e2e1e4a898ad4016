import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Context, Next } from 'koa';
import type { Log } from './log.ts';
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { AppError, failureBody } from './errors.ts';

/** Options of `createServer` that limit large headers, slow headers and slow bodies. Node's own limits are generous. */
export const HTTP_LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};

/** Milliseconds that running requests get to finish when a server closes. */
export const CLOSE_GRACE_MS = 20_000;

/** Time for idle connections: longer than clients and load balancers keep them, so that no request is lost. */
const KEEP_ALIVE_MS = 65_000;

/**
 * Lets a server listen. The server never closes an idle connection before its client does.
 * @returns the port: the requested port, or the system's choice for 0
 * @throws the error of the socket, such as `EADDRINUSE`
 */
export async function listenOn(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** Closes a server at once, with all open requests. */
export function closeAtOnce(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const CLOSE_IDLE_EVERY_MS = 50;

/**
 * Follows the connections of a server, from before it listens, so that it can be closed without cutting off a request.
 * @returns a function that closes the server. The server takes no new request. The promise resolves when open requests
 * have ended, or were cut off after `graceMs` milliseconds. Without `graceMs`, no request is cut off
 */
export function gracefulClose(server: Server): (graceMs?: number) => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = () => {
    server.closeIdleConnections();
    // Close the connections that browsers open ahead of a request: Node does not count such a connection as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  return (graceMs) =>
    new Promise((resolve) => {
      const cut = graceMs === undefined ? undefined : setTimeout(() => server.closeAllConnections(), graceMs);
      // A connection whose request ends later would stay open for another request, which the server does not take.
      const idle = setInterval(closeIdle, CLOSE_IDLE_EVERY_MS);
      server.close(() => {
        clearTimeout(cut);
        clearInterval(idle);
        resolve();
      });
      closeIdle();
    });
}

/** Calls `stop` at the first SIGTERM or SIGINT, and ignores later signals. */
export function onStopSignal(log: Log, stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      log.info({ signal }, 'stopping');
      void stop();
    });
  }
}

/**
 * Responds with 204 to a browser that prefetches: a link under the pointer must not use up a sign-in or confirm an
 * address. Browsers announce a prefetch in `Sec-Purpose` (Fetch standard), older browsers in the other headers.
 */
export async function refusePrefetch(ctx: Context, next: Next): Promise<void> {
  const isAhead = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /^\s*(prefetch|prerender|preview)\b/i.test(ctx.get(name)),
  );
  if (!isAhead) return next();
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 204;
  return undefined;
}

/**
 * Returns a listener for `clientError`. It answers a request that Node's parser cannot read with the usual body of an
 * error and these headers, and closes the connection.
 */
export function refuseMalformed(own: Readonly<Record<string, string>>) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(error.code);
    const requestId = randomUUID();
    const body = failureBody(refusal, requestId);
    const headers = {
      ...own,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestId,
      Connection: 'close',
    };
    socket.end(
      [
        `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        '',
        body,
      ].join('\r\n'),
    );
  };
}

function refusalOf(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout');
    default:
      return new AppError('invalid_request', 'The request is not well-formed HTTP.');
  }
}
