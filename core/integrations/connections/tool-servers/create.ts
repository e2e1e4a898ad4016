import type { Actor } from '#core/foundation/audit/index.ts';
import {
  checkToolServer,
  fixedCredentials,
  ToolServerError,
  type RequestCredentials,
  type ToolServerErrorKind,
} from '#core/clients/mcp/index.ts';
import { now } from '#lib/clock.ts';
import { AppError } from '#lib/errors.ts';
import type { ConnectionsCore } from '../core.ts';
import { draftConnection, type Connection } from '../store/connection.ts';
import { headersOf, type StaticCredentials } from '../store/credential-source.ts';
import { assertRoomForConnection, insertConnection } from '../store/queries.ts';

export interface NewToolServer extends Pick<Connection, 'id' | 'projectId' | 'name' | 'createdBy'> {
  readonly url: string;
  readonly credentials: StaticCredentials | null;
  readonly by: Actor;
}

/**
 * Connects the user's own tool server, if the server speaks MCP and accepts the credentials. The credentials are stored
 * sealed.
 * @throws {AppError} `limit_reached`, `invalid_request` for a wrong address or wrong credentials, `provider_error`
 */
export async function createToolServer(
  { database, outbound, connectionSecrets }: Pick<ConnectionsCore, 'connectionSecrets' | 'database' | 'outbound'>,
  input: NewToolServer,
): Promise<Connection> {
  const { id, projectId, name, createdBy, credentials } = input;
  await assertRoomForConnection(database, input);
  const url = allowedUrl(outbound, input.url);
  const auth = credentials?.kind ?? 'none';
  const draft = draftConnection({ id, projectId, to: { url }, name, auth, createdBy });
  let server;
  try {
    server = await checkToolServer({ outbound }, { url, credentials: givenCredentials(credentials) });
  } catch (error) {
    throw error instanceof ToolServerError ? refusal(error) : error;
  }
  return insertConnection(database, connectionSecrets, input.by, {
    ...draft,
    server,
    checkedAt: new Date(now()),
    sealedCredentials: credentials === null ? null : connectionSecrets.seal(id, credentials),
  });
}

/** Returns the address in its usual form. @throws {AppError} `invalid_request`, naming the fault */
export function allowedUrl(outbound: ConnectionsCore['outbound'], text: string): string {
  const fault = outbound.urlFault(text);
  if (fault !== undefined) throw new AppError('invalid_request', `url: ${fault.message}`);
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

/** Creates a server's credentials from a person's input, before they are stored. */
export function givenCredentials(credentials: StaticCredentials | null): RequestCredentials {
  return fixedCredentials(credentials === null ? {} : headersOf(credentials));
}

/** Returns the error for a tool server that cannot be connected. */
export function refusal(error: ToolServerError): AppError {
  const passing = PASSING.has(error.kind);
  const hint = error.isDenial ? SIGN_IN_HINT : '';
  return new AppError(passing ? 'provider_error' : 'invalid_request', `url: ${error.message}${hint}`);
}

const SIGN_IN_HINT = '; where a person signs in, begin with POST /v1/connections/oauth/tool-server/start';

/** Errors that may not recur at the next attempt with the same address. */
const PASSING: ReadonlySet<ToolServerErrorKind> = new Set([
  'unreachable',
  'too_slow',
  'server_error',
  'broken',
  'cancelled',
]);
