import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { OutboundError } from '#lib/outbound/index.ts';
import type { Connection } from './connection.ts';
import { headersOf, type CredentialSource, type StaticCredentials } from './credential-source.ts';
import { checkToolServer } from './mcp/check.ts';
import { ToolServerFault, type ToolServerFaultKind } from './mcp/fault.ts';
import type { ToolServerDeps } from './mcp/session.ts';
import { insertConnection } from './queries.ts';
import type { ConnectionSecrets } from './secrets.ts';

export interface CreateDeps extends Pick<ToolServerDeps, 'outbound'> {
  readonly database: Database;
  readonly connectionSecrets: ConnectionSecrets;
}

export interface NewToolServer {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly url: string;
  readonly credentials: StaticCredentials | null;
  readonly createdBy: string | null;
}

/**
 * Connects a tool server that the user runs or subscribes to: asked first whether it is one and takes the credentials,
 * then kept with them sealed.
 * @throws {AppError} `invalid_request` when the address or credentials are wrong, `provider_error` when the server is
 */
export async function createToolServer(
  { database, outbound, connectionSecrets }: CreateDeps,
  input: NewToolServer,
): Promise<Connection> {
  const { id, credentials } = input;
  const draft = draftOf({ ...input, url: allowedUrl(outbound, input.url) });
  let server;
  try {
    server = await checkToolServer({ outbound, credentials: givenCredentials(credentials) }, draft);
  } catch (error) {
    throw error instanceof ToolServerFault ? refusal(error) : error;
  }
  return insertConnection(database, connectionSecrets, {
    ...draft,
    server,
    checkedAt: new Date(),
    sealedCredentials: credentials === null ? null : connectionSecrets.seal(id, credentials),
    credentialsExpireAt: null,
  });
}

/** The address in its usual form. @throws {AppError} `invalid_request`, naming what is wrong with it */
export function allowedUrl(outbound: CreateDeps['outbound'], text: string): string {
  try {
    outbound.checkUrl(text);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new AppError('invalid_request', `url: ${error.message}`);
  }
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

function draftOf({ id, projectId, name, url, credentials, createdBy }: NewToolServer): Connection {
  const now = new Date();
  return {
    id,
    projectId,
    kind: 'tool_server',
    provider: null,
    name,
    url,
    auth: credentials?.kind ?? 'none',
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    createdBy,
    createdAt: now,
    updatedAt: now,
    checkedAt: null,
  };
}

/** Credentials that are not stored yet. */
export function givenCredentials(credentials: StaticCredentials | null): CredentialSource {
  return {
    headers: async () => (credentials === null ? {} : headersOf(credentials)),
    refused: async () => undefined,
  };
}

/** A fault of the tool server as whoever names its address is told of it. */
export function refusal(fault: ToolServerFault): AppError {
  const passing = PASSING.has(fault.kind);
  const hint = fault.kind === 'sign_in' ? SIGN_IN_HINT : '';
  return new AppError(
    passing ? 'provider_error' : 'invalid_request',
    `url: ${fault.message}${hint}`,
  );
}

const SIGN_IN_HINT =
  '; where a person signs in, begin with POST /v1/connections/oauth/tool-server/start';

/** Faults that may be gone on the next attempt with the same address. */
const PASSING: ReadonlySet<ToolServerFaultKind> = new Set([
  'unreachable',
  'too_slow',
  'server_error',
  'broken',
  'cancelled',
]);
