import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

/** A request to one of the endpoints, its body read by its content type. */
export interface SeenRequest {
  readonly path: string;
  readonly contentType: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * An authorization server with scripted responses that records its requests. It serves exchanges that an honest server
 * would refuse.
 */
export interface ScriptedServer {
  readonly origin: string;
  /** Sets the answers of a path, in order; the last one repeats. */
  answer(path: string, ...answers: (object | { readonly status: number; readonly body: object })[]): void;
  /** Returns the requests to a path, in order. */
  seen(path: string): readonly SeenRequest[];
  /** Makes an ID token, signed with the published key or with another key. */
  idToken(claims: Readonly<Record<string, unknown>>, options?: { readonly byStranger?: boolean }): Promise<string>;
  reset(): void;
  stop(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const [own, stranger] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const publicKey = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const answers = new Map<string, object[]>();
  let seen: SeenRequest[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const { authorization, 'content-type': contentType = '' } = request.headers;
    seen.push({ path, contentType, authorization, body: await read(request) });
    const said = published(path) ?? scripted(path);
    const hasStatus = said !== undefined && 'status' in said && 'body' in said;
    const status = said === undefined ? 404 : hasStatus ? Number(said.status) : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(hasStatus ? said.body : (said ?? {})));
  };
  const server = createServer((request, response) => void respond(request, response));
  const origin = `http://127.0.0.1:${await listenOn(server, { host: '127.0.0.1', port: 0 })}`;
  const published = (path: string): object | undefined => {
    if (path === '/jwks') return { keys: [publicKey] };
    if (path !== '/.well-known/openid-configuration') return undefined;
    return {
      issuer: origin,
      token_endpoint: `${origin}/token`,
      authorization_endpoint: `${origin}/authorize`,
      revocation_endpoint: `${origin}/revoke`,
      jwks_uri: `${origin}/jwks`,
    };
  };
  const scripted = (path: string): object | undefined => {
    const left = answers.get(path) ?? [];
    return left.length > 1 ? left.shift() : left[0];
  };
  return {
    origin,
    answer: (path, ...given) => void answers.set(path, given),
    seen: (path) => seen.filter((each) => each.path === path),
    idToken: (claims, { byStranger = false } = {}) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .sign((byStranger ? stranger : own).privateKey),
    reset() {
      answers.clear();
      seen = [];
    },
    stop: () => closeAtOnce(server),
  };
}

async function read(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await text(request);
  if (body === '') return {};
  return request.headers['content-type']?.startsWith('application/json') === true
    ? (JSON.parse(body) as Record<string, unknown>)
    : Object.fromEntries(new URLSearchParams(body));
}
