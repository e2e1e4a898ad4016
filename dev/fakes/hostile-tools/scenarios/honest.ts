import { setTimeout as sleep } from 'node:timers/promises';
import type { HostileControl } from '../control.ts';
import { event, eventStream, json, result, type Behaviour, type Exchange } from './exchange.ts';

/** Behaves as a server should, with the tools and results of the test. */
export async function honest(exchange: Exchange): Promise<void> {
  const { method, control, request, params } = exchange;
  if (exchange.id === undefined) return void exchange.response.writeHead(202).end();
  if (method === 'initialize') {
    return result(exchange, {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile-tools', version: '0.0.1' },
    });
  }
  if (method === 'tools/list') return result(exchange, { tools: control.tools });
  if (method === 'tools/call') {
    const call = control.calls.at(-1) ?? {
      scenario: 'honest' as const,
      name: params.name,
      arguments: {},
      headers: request.headers,
      path: request.url ?? '',
    };
    const { held } = control;
    await sleep(control.delayMs);
    await held;
    const answer = control.answer(call);
    return result(exchange, typeof answer === 'string' ? { content: [{ type: 'text', text: answer }] } : answer);
  }
  return unknownMethod(exchange);
}

function unknownMethod({ id, response }: Exchange): void {
  json(response, 200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

/** Behaves honestly, except for one method. */
export function except(method: string, behaviour: Behaviour): Behaviour {
  return (exchange) => (exchange.method === method ? behaviour(exchange) : honest(exchange));
}

/** Admits requests with the credential of the test: as a bearer token, in `X-Api-Key`, or as `api_key` in the query. */
export function guarded(exchange: Exchange): void | Promise<void> {
  const { request, response, control } = exchange;
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const given = [
    request.headers.authorization?.replace(/^Bearer /, ''),
    request.headers['x-api-key'],
    searchParams.get('api_key'),
  ];
  if (given.includes(control.credential)) return honest(exchange);
  response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
}

/** Keeps sessions, which the MCP revisions of 2025 allow. A test makes the server forget them with `forgetSessions`. */
export function stateful(exchange: Exchange): void | Promise<void> {
  const { method, request, response, control } = exchange;
  const session = String(request.headers['mcp-session-id'] ?? '');
  if (method === 'initialize') {
    const id = `session-${control.seen.length}`;
    sessions.add(id);
    response.setHeader('mcp-session-id', id);
  } else if (session !== '' && !sessions.has(session)) {
    return void response.writeHead(404).end();
  }
  return honest(exchange);
}

const sessions = new Set<string>();

export function forgetSessions(): void {
  sessions.clear();
}

/** Speaks the protocol of 2026-07-28: no session, no handshake, and results marked as complete. */
export function modern(exchange: Exchange): void | Promise<void> {
  const { method, control } = exchange;
  const about = {
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '1' } },
  };
  if (method === 'server/discover') {
    const supportedVersions = ['2026-07-28'];
    const capabilities = { tools: {} };
    return result(exchange, {
      ...about,
      ...CACHE,
      resultType: 'complete',
      supportedVersions,
      capabilities,
    });
  }
  if (method === 'tools/list') {
    return result(exchange, { ...CACHE, resultType: 'complete', tools: control.tools });
  }
  if (method === 'tools/call') {
    return result(exchange, { resultType: 'complete', ...setResult(control, 'from 2026') });
  }
  return honest(exchange);
}

/** Speaks only the protocol of 2026-07-28, and refuses the earlier handshake. */
export function modernOnly(exchange: Exchange): void | Promise<void> {
  return exchange.method === 'initialize' ? unknownMethod(exchange) : modern(exchange);
}

const CACHE = { ttlMs: 0, cacheScope: 'private' };

/** Responds to a call in an event stream, after other messages. */
export const streaming = streamedAfter({
  method: 'notifications/message',
  params: { level: 'info', data: 'working' },
});

/** Announces with each call that its tools have changed. */
export const announcing = streamedAfter({ method: 'notifications/tools/list_changed' });

function streamedAfter(notification: { method: string; params?: object }): Behaviour {
  return except('tools/call', ({ id, response, control }) => {
    eventStream(response);
    event(response, { jsonrpc: '2.0', ...notification });
    event(response, { jsonrpc: '2.0', id, result: setResult(control, 'streamed') });
    response.end();
  });
}

/** Returns the whole result of the test, or a result with this text. */
function setResult({ calls, answer }: HostileControl, text: string): object {
  const call = calls.at(-1);
  const set = call === undefined ? '' : answer(call);
  return typeof set === 'object' ? set : { content: [{ type: 'text', text }] };
}
