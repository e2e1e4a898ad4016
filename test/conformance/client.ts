/**
 * Our client under the client scenarios of `@modelcontextprotocol/conformance`: `node test/conformance/client.ts <url>`
 * does with a tool server what the service does, except that it plays the person at the browser too and keeps nothing.
 */
import type { Connection, CredentialSource } from '#core/connections/index.ts';
import { ToolServerFault } from '#core/connections/index.ts';
import { openToolSession, type ToolSession } from '#core/connections/mcp/session.ts';
import { authorizationRequest } from '#core/connections/oauth/authorization-request.ts';
import { toolServerDraft } from '#core/connections/oauth/draft.ts';
import { grantHeaders } from '#core/connections/oauth/grant.ts';
import { redirectUriOf } from '#core/connections/oauth/index.ts';
import { discoveredTarget } from '#core/connections/oauth/target.ts';
import { redeemCode } from '#core/connections/oauth/token-endpoint.ts';
import { TOOL_SERVER } from '#core/connections/providers/catalogue.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';

const UI_ORIGIN = 'http://localhost:3000';
const limits = () => ({ signal: new AbortController().signal, timeoutMs: 20_000 });

const outbound = createOutboundClient({ allowPrivateNetwork: true });
const connection = toolServerDraft({
  id: '',
  projectId: '',
  name: 'conformance',
  url: process.argv.at(-1) ?? '',
  createdBy: null,
});
try {
  await useTools(await connect());
} finally {
  await outbound.close();
}

async function connect(): Promise<ToolSession> {
  try {
    return await openToolSession({ outbound, credentials: fixed({}) }, connection, limits());
  } catch (error) {
    if (!(error instanceof ToolServerFault) || error.kind !== 'sign_in') throw error;
  }
  const credentials = fixed(await signIn(connection));
  return openToolSession({ outbound, credentials }, connection, limits());
}

async function signIn(draft: Connection): Promise<Record<string, string>> {
  const target = await discoveredTarget(
    { outbound, uiOrigin: UI_ORIGIN },
    { provider: TOOL_SERVER, draft, givenClient: givenClient(), earlier: undefined },
  );
  const redirectUri = redirectUriOf(UI_ORIGIN, TOOL_SERVER);
  const { authorizationUrl, codeVerifier } = await authorizationRequest(
    target,
    redirectUri,
    'state',
  );
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  const answer = new URL(response.headers.get('location') ?? '').searchParams;
  const tokens = await redeemCode(
    { outbound, server: target.server, client: target.client, resource: target.resource },
    {
      code: answer.get('code') ?? '',
      verifier: codeVerifier,
      redirectUri,
      iss: answer.get('iss') ?? undefined,
    },
  );
  return grantHeaders(tokens);
}

/** What a scenario says that a person has registered beforehand. */
function givenClient(): { id: string; secret: string | undefined } | undefined {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
    client_id?: string;
    client_secret?: string;
  };
  return context.client_id === undefined
    ? undefined
    : { id: context.client_id, secret: context.client_secret };
}

async function useTools(session: ToolSession): Promise<void> {
  const { tools } = await session.listTools(undefined, limits());
  for (const tool of tools) {
    const args = tool.name === 'add_numbers' ? { a: 5, b: 3 } : {};
    await session.callTool(tool, args, limits());
  }
  await session.close();
}

function fixed(headers: Record<string, string>): CredentialSource {
  return { headers: async () => headers, refused: async () => undefined };
}
