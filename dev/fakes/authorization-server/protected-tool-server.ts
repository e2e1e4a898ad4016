import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

import { TOOLS_SCOPE } from './scope.ts';
import type { AuthorizationServer } from './options.ts';

export interface ProtectedToolServerOptions {
  /** Port; 0 takes a free one. */
  port: number;
  authorizationServer: AuthorizationServer;
  /** MCP endpoint of the protected tool server. It asks for no credentials. */
  upstream: string;
}

export interface ProtectedToolServer {
  readonly url: string;
  /** Bearer tokens of the forwarded requests. */
  readonly bearers: string[];
  readonly control: {
    /** Additional scope for tool calls. A token without it gets the challenge of RFC 6750, section 3.1. */
    callScope: string | undefined;
  };
  stop(): Promise<void>;
}

/**
 * Starts a gate in front of a tool server. A request needs a token that the authorization server issued for this
 * resource. Any other request gets the address of the authorization server (MCP authorization, RFC 9728).
 */
export async function startProtectedToolServer({
  port,
  authorizationServer,
  upstream,
}: ProtectedToolServerOptions): Promise<ProtectedToolServer> {
  const bearers: string[] = [];
  const control: ProtectedToolServer['control'] = { callScope: undefined };
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy());
  });
  const bound = await listenOn(server, { host: '127.0.0.1', port });
  const origin = `http://127.0.0.1:${bound}`;
  const resource = `${origin}/mcp`;
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (incoming.url === metadataPath) {
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          resource,
          authorization_servers: [authorizationServer.issuer],
          scopes_supported: [TOOLS_SCOPE],
          bearer_methods_supported: ['header'],
        }),
      );
      return;
    }
    const bearer = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1];
    const token = bearer === undefined ? undefined : await authorizationServer.accessToken(bearer);
    if (bearer === undefined || token?.audience !== resource) {
      incoming.resume();
      response
        .writeHead(401, {
          'www-authenticate': `Bearer resource_metadata="${origin}${metadataPath}", scope="${TOOLS_SCOPE}"`,
        })
        .end();
      return;
    }
    const body = await buffer(incoming);
    const { callScope } = control;
    const isCall = body.includes('"tools/call"');
    if (isCall && callScope !== undefined && !token.scope.split(' ').includes(callScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${callScope}", resource_metadata="${origin}${metadataPath}"`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return;
    }
    bearers.push(bearer);
    forward(incoming, body, response, upstream);
  };
  return {
    url: resource,
    bearers,
    control,
    stop: () => closeAtOnce(server),
  };
}

/**
 * Forwards a request without its credential, on a new connection, because an idle connection may close while it is
 * used.
 */
export function forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse, upstream: string): void {
  const { authorization: _, host: __, ...headers } = incoming.headers;
  const outgoing = request(upstream, { method: incoming.method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  outgoing.end(body);
}
