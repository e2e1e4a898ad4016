import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostileControl } from '../control.ts';

export interface Exchange {
  readonly id: number | string | undefined;
  readonly method: string;
  readonly params: { readonly name: string; readonly cursor?: string | undefined };
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly control: HostileControl;
}

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

export function result({ response, id }: Exchange, value: object): void {
  json(response, 200, { jsonrpc: '2.0', id, result: value });
}

export function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export function eventStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

export function event(response: ServerResponse, message: object): void {
  response.write(`data: ${JSON.stringify(message)}\n\n`);
}

export function redirect(response: ServerResponse): void {
  response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
}

export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
