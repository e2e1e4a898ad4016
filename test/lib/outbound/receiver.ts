import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { onTestFinished } from 'vitest';
import { closeAtOnce } from '#lib/listen.ts';
import { createOutboundClient, type OutboundClient } from '#lib/outbound/index.ts';
import type { OutboundClientOptions } from '#lib/outbound/index.ts';

export interface Received {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  port: number;
  origin: string;
  received: Received[];
  /** Counts the accepted connections, with or without a request. */
  connections: () => number;
  /** Counts the open connections. */
  open: () => number;
}

/** Self-signed certificate for `localhost`, `127.0.0.1` and `tools.example.com`, valid from 2020 to 2120. */
export const certificate = readFileSync(new URL('fixtures/certificate.pem', import.meta.url), 'utf8');
export const key = readFileSync(new URL('fixtures/key.pem', import.meta.url), 'utf8');

/** Starts a local HTTP(S) server that records its requests and closes with the test. */
export async function startReceiver(answer: http.RequestListener, options: { tls?: boolean } = {}): Promise<Receiver> {
  const received: Received[] = [];
  const listener: http.RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    answer(request, response);
  };
  const server =
    options.tls === true ? https.createServer({ cert: certificate, key }, listener) : http.createServer(listener);
  let connections = 0;
  let open = 0;
  server.on('connection', (socket) => {
    connections++;
    open++;
    socket.on('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => closeAtOnce(server));
  const port = portOf(server);
  return {
    port,
    origin: `${options.tls === true ? 'https' : 'http'}://127.0.0.1:${port}`,
    received,
    connections: () => connections,
    open: () => open,
  };
}

export function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Makes a client for local use, which closes with the test. */
export function localClient(options: Partial<OutboundClientOptions> = {}): OutboundClient {
  return closedWithTest({ allowPrivateNetwork: true, ...options });
}

/** Makes a client with the guards of production, which closes with the test. */
export function guardedClient(options: Partial<OutboundClientOptions> = {}): OutboundClient {
  return closedWithTest({ allowPrivateNetwork: false, ...options });
}

function closedWithTest(options: OutboundClientOptions): OutboundClient {
  const client = createOutboundClient(options);
  onTestFinished(() => client.close());
  return client;
}

/** Starts a local server that speaks in bytes and closes with the test. @returns its port */
export async function startRawServer(accept: (socket: net.Socket) => void, { closed = false } = {}): Promise<number> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  if (closed) await close();
  else onTestFinished(close);
  return port;
}
