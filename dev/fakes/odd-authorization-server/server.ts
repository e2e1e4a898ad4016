import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { parseJson } from '#lib/exact-json/parse.ts';
import { isJsonObject } from '#lib/json.ts';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { forward } from '../authorization-server/protected-tool-server.ts';
import { CUT, json, type Answer, type Answers } from './answers.ts';

export interface OddServer {
  readonly url: string;
  readonly origin: string;
  /** Parameters of the received refreshes. */
  readonly refreshes: URLSearchParams[];
  /** Return addresses of the registered clients, by id. */
  readonly clients: ReadonlyMap<string, readonly unknown[]>;
  /** Delay before the answer to a refresh. */
  delayMs: number;
  stop(): Promise<void>;
}

/**
 * Starts a tool server that is its own authorization server, with one client and one grant at a time. The server
 * follows and enforces the rules, except in the given answers.
 * @param upstream MCP endpoint behind the server, which asks for no credentials
 */
export async function startOddServer(answers: Answers, upstream: string): Promise<OddServer> {
  const clients = new Map<string, readonly unknown[]>();
  const codes = new Map<string, URLSearchParams>();
  const access = new Map<string, 'first' | 'renewed'>();
  const odd = { refreshes: [] as URLSearchParams[], clients, delayMs: 0 };
  let refreshTokens: string[] = [];
  let calls = 0;

  function issueAccess(kind: 'first' | 'renewed') {
    const token = `access-${randomUUID()}`;
    access.set(token, kind);
    return { access_token: token, token_type: 'Bearer', expires_in: 3600, scope: 'tools' };
  }

  function issue(kind: 'first' | 'renewed') {
    const token = `refresh-${randomUUID()}`;
    refreshTokens = [token, ...refreshTokens].slice(0, answers.hasGrace === true ? 2 : 1);
    return { ...issueAccess(kind), refresh_token: token };
  }

  function register(body: Buffer): Answer {
    const wanted = parseJson(body.toString());
    const redirectUris = isJsonObject(wanted) ? wanted['redirect_uris'] : undefined;
    if (!Array.isArray(redirectUris)) return json({ error: 'invalid_redirect_uri' }, 400);
    const client = {
      client_id: `client-${randomUUID()}`,
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'none',
    };
    clients.set(client.client_id, redirectUris);
    return answers.registration?.(client) ?? json(client, 201);
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const isOwn = clients.get(query.get('client_id') ?? '')?.includes(query.get('redirect_uri')) === true;
    const isGood = isOwn && query.get('code_challenge_method') === 'S256';
    if (!isGood || query.get('resource') === null) return void response.writeHead(400).end();
    const code = randomUUID();
    codes.set(code, query);
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    if (answers.iss !== undefined) back.searchParams.set('iss', answers.iss(origin));
    response.writeHead(303, { location: back.href }).end();
  }

  function redeem(form: URLSearchParams): Answer {
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood =
      asked?.get('code_challenge') === challenge &&
      ['client_id', 'redirect_uri', 'resource'].every((name) => asked.get(name) === form.get(name));
    if (!isGood) return json({ error: 'invalid_grant' }, 400);
    return answers.tokens?.(issue('first')) ?? json(issue('first'));
  }

  async function refresh(form: URLSearchParams): Promise<Answer | typeof CUT> {
    const number = odd.refreshes.push(form);
    const isGood = refreshTokens.includes(form.get('refresh_token') ?? '') && clients.has(form.get('client_id') ?? '');
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, odd.delayMs);
    await promise;
    if (!isGood) return json({ error: 'invalid_grant' }, 400);
    const all = answers.refreshes ?? [];
    const chosen = all[Math.min(number, all.length) - 1];
    const asked = { parameters: form, rotate: () => issue('renewed'), keep: () => issueAccess('renewed') };
    return chosen?.(asked) ?? json(asked.rotate());
  }

  function isLetIn(incoming: IncomingMessage): boolean {
    const kind = access.get(/^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1] ?? '');
    return kind === 'first' || (kind === 'renewed' && answers.refusesRenewed !== true);
  }

  async function use(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    if (!isLetIn(incoming)) {
      const error = incoming.headers.authorization === undefined ? '' : ', error="invalid_token"';
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"${error}`;
      const status = error === '' ? 401 : (answers.refusalStatus ?? 401);
      return void response.writeHead(status, { 'www-authenticate': challenge }).end();
    }
    forward(incoming, body, response, upstream);
    if (!body.includes('"tools/call"')) return;
    calls += 1;
    if (calls !== answers.revokedAfterCalls) return;
    access.clear();
    refreshTokens = [];
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', origin);
    const place = answers.oidcOnly === true ? 'openid-configuration' : 'oauth-authorization-server';
    switch (pathname) {
      case '/mcp':
        return use(incoming, response);
      case '/.well-known/oauth-protected-resource/mcp':
        return send(response, json({ ...resourceOf(origin), ...answers.resource?.(origin) }));
      case `/.well-known/${place}`:
        return send(response, json({ ...serverOf(origin), ...answers.server?.(origin) }));
      case '/register':
        return send(response, register(await buffer(incoming)));
      case '/authorize':
        return authorize(searchParams, response);
      case '/token': {
        const form = new URLSearchParams((await buffer(incoming)).toString());
        const isRefresh = form.get('grant_type') === 'refresh_token';
        return send(response, isRefresh ? await refresh(form) : redeem(form));
      }
      default:
        return send(response, answers.elsewhere ?? { status: 404 });
    }
  }

  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy());
  });
  const origin = `http://127.0.0.1:${await listenOn(server, { host: '127.0.0.1', port: 0 })}`;
  return Object.assign(odd, { origin, url: `${origin}/mcp`, stop: () => closeAtOnce(server) });
}

function resourceOf(origin: string): object {
  return { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['tools'] };
}

function serverOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  };
}

function send(response: ServerResponse, answer: Answer | typeof CUT): void {
  if (answer === CUT) return void response.destroy();
  const { status = 200, body, text, type = 'application/json', isCut = false } = answer;
  const sent = Buffer.from(text ?? (body === undefined ? '' : JSON.stringify(body)));
  response.writeHead(status, { 'content-type': type, 'content-length': sent.length });
  if (isCut) response.write(sent.subarray(0, 20), () => response.destroy());
  else response.end(sent);
}
