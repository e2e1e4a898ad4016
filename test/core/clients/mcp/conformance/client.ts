/**
 * Runs our client in a client scenario of `@modelcontextprotocol/conformance`. It uses the tool server at the address in
 * its last argument like the service, but also plays the person at the browser and stores nothing.
 */
import { authorizationRequest } from '#core/integrations/connections/oauth/start.ts';
import { grantHeaders, scopesIn, tokenEndpointOf } from '#core/integrations/connections/oauth/grant.ts';
import { callbackOf, redirectUriOf } from '#core/integrations/connections/oauth/client.ts';
import { discoveredTarget, type EarlierSignIn } from '#core/integrations/connections/oauth/target.ts';
import { isFromIssuer, requestTokens } from '#core/clients/oauth/index.ts';
import { TOOL_SERVER } from '#core/integrations/connections/providers/catalogue.ts';
import {
  findTool,
  listAllTools,
  openToolSession,
  ToolServerError,
  type RequestCredentials,
} from '#core/clients/mcp/index.ts';
import { createLog } from '#lib/log.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';

const UI_ORIGIN = 'http://localhost:3000';
/** The scenarios recognize a client by this address, and never read it. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';
function limits() {
  return { signal: new AbortController().signal, timeoutMs: 20_000 };
}

const outbound = createOutboundClient({ allowPrivateNetwork: true });
const log = createLog({ level: 'silent', name: 'conformance' });
const url = process.argv.at(-1) ?? '';

/** Arguments of the tools that need some. A function gets the schema of the first tool. */
const ARGUMENTS: Readonly<Record<string, (first: unknown) => Record<string, unknown>>> = {
  add_numbers: () => ({ a: 5, b: 3 }),
  json_schema_echo: (schema) => ({ schema }),
};

/** Headers as a connection stores them. */
let headers: Record<string, string> = {};
let earlier: EarlierSignIn | undefined;
const credentials: RequestCredentials = {
  headers: async () => headers,
  async refused(_used, _signal, demanded = []) {
    if (earlier === undefined) return undefined;
    earlier = { ...earlier, demandedScopes: [...earlier.demandedScopes, ...demanded] };
    return undefined;
  },
};

try {
  // The first sign-in, and a second one when a tool needs more scopes.
  await useTools().catch(afterSignIn).catch(afterSignIn);
} finally {
  await outbound.close();
}

async function afterSignIn(error: unknown): Promise<void> {
  if (!(error instanceof ToolServerError) || !error.isDenial) throw error;
  await signIn();
  await useTools();
}

/** Signs in with the same functions as `startSignIn` and `completeSignIn`. */
async function signIn(): Promise<void> {
  const target = await discoveredTarget(
    { outbound, log, uiOrigin: UI_ORIGIN, clientMetadataUrl: () => CLIENT_METADATA_URL },
    { provider: TOOL_SERVER, url, givenClient: givenClient(), earlier },
  );
  const { server, client, resource, scope } = target;
  const redirectUri = redirectUriOf(UI_ORIGIN, callbackOf(TOOL_SERVER, server.issuer));
  const { authorizationUrl, codeVerifier } = await authorizationRequest(target, redirectUri, 'state');
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  const answer = new URL(response.headers.get('location') ?? '').searchParams;
  if (!isFromIssuer(server, answer.get('iss') ?? undefined)) throw new Error('the response is from another issuer');
  const tokens = await requestTokens({ outbound, log }, tokenEndpointOf({ server, client }), {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    code_verifier: codeVerifier,
    redirect_uri: redirectUri,
    ...(resource === null ? {} : { resource }),
  });
  headers = grantHeaders(tokens);
  earlier = {
    issued: { server, client },
    scopes: scopesIn(tokens.scope ?? scope ?? ''),
    demandedScopes: earlier?.demandedScopes ?? [],
  };
}

/** Reads the context of a scenario: a client that a person has registered beforehand, and calls that a model makes. */
function context() {
  return JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
    client_id?: string;
    client_secret?: string;
    toolCalls?: { name: string; arguments: Record<string, unknown> }[];
  };
}

function givenClient() {
  const { client_id: id, client_secret: secret } = context();
  return id === undefined ? undefined : { id, secret };
}

/**
 * Discovers the tools, and calls each as a run does, by its present definition. Continues after a fault with the next
 * tool.
 */
async function useTools(): Promise<void> {
  const session = await openToolSession({ outbound }, { url, credentials }, limits());
  try {
    const { tools } = await listAllTools(session, limits());
    const calls = context().toolCalls ?? tools.map(({ name }) => ({ name, arguments: {} }));
    for (const call of calls) {
      const { definition } = await findTool(session, call.name, limits());
      if (definition === undefined) continue;
      const args = { ...ARGUMENTS[call.name]?.(tools[0]?.inputSchema), ...call.arguments };
      await session.callTool(definition, args, limits()).catch(told);
    }
  } finally {
    await session.close();
  }
}

/** Ignores an error that a run would report to its model. Only a sign-in needs a person. */
function told(error: unknown): void {
  if (!(error instanceof ToolServerError) || error.isDenial) throw error;
}
