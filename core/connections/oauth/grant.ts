import { z } from 'zod';
import { AppError } from '#lib/errors.ts';
import type { ConnectionSecrets } from '../store/secrets.ts';
import { authorizationServer, oauthClient } from './authorization-server.ts';

/** The tokens of a connection that a person signed in to, as they are sealed. */
export const grant = z.strictObject({
  kind: z.literal('oauth'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** The discovered server and our client there; null for a managed provider, whose file and configuration say it. */
  issued: z.strictObject({ server: authorizationServer, client: oauthClient }).nullable(),
  /** The resource indicator (RFC 8707) that the tokens were asked for. */
  resource: z.string().nullable(),
});
export type Grant = z.output<typeof grant>;

/** Opens a grant as it is stored. @throws {AppError} `connection_not_ready` when there is none */
export function openGrant(
  { connectionSecrets }: { readonly connectionSecrets: ConnectionSecrets },
  connection: { readonly id: string },
  { sealed }: { readonly sealed: string | null },
): Grant {
  if (sealed === null) throw new AppError('connection_not_ready');
  return grant.parse(connectionSecrets.open(connection.id, sealed));
}

/** Makes the headers that authenticate a request. */
export function grantHeaders({ accessToken }: Pick<Grant, 'accessToken'>): Record<string, string> {
  return { authorization: `Bearer ${accessToken}` };
}
