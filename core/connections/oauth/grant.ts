import { z } from 'zod';
import { authorizationServer, oauthClient } from './authorization-server.ts';

/** What is sealed into a connection that a person signed in to. */
export const grant = z.strictObject({
  kind: z.literal('oauth'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** Of a discovered server; null for a managed provider, whose file and configuration say it. */
  issued: z.strictObject({ server: authorizationServer, client: oauthClient }).nullable(),
  /** The resource indicator (RFC 8707) that the tokens were asked for. */
  resource: z.string().nullable(),
});
export type Grant = z.output<typeof grant>;

/** The headers that a grant authenticates a request with. */
export function grantHeaders({ accessToken }: Pick<Grant, 'accessToken'>): Record<string, string> {
  return { authorization: `Bearer ${accessToken}` };
}
