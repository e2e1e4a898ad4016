import { ToolServerError, type ToolServer } from '#core/mcp/index.ts';
import { withAddress } from '../store/address.ts';
import type { Connection } from '../store/connection.ts';
import type { CredentialSource } from '../store/credential-source.ts';
import type { ConnectionSecrets } from '../store/secrets.ts';

/**
 * Makes the tool server of a stored connection: with its whole address, and authenticated by what is stored.
 * @throws {ToolServerError} when its provider runs none
 */
export function toolServerOf(
  deps: { readonly connectionSecrets: ConnectionSecrets; readonly credentials: CredentialSource },
  connection: Connection,
): ToolServer {
  const { url } = withAddress(deps.connectionSecrets, connection);
  if (url === null) throw new ToolServerError('not_mcp', { mayHaveArrived: false });
  const { credentials } = deps;
  return {
    url,
    credentials: {
      headers: (signal) => credentials.headers(connection, signal),
      refused: (...refusal) => credentials.refused(connection, ...refusal),
    },
  };
}
