import type { ModelProvider } from '../providers/providers.ts';
import type { OAuthCredential } from '../store/credential.ts';
import type { FindServer } from './server.ts';
import { postAsClient, type OAuthRequestDeps } from './token-request.ts';

export interface RevocationDeps extends OAuthRequestDeps {
  readonly findModelServer: FindServer;
}

/**
 * Hands tokens back to who issued them (RFC 7009): the refresh token, with which the access tokens go, else the access
 * token.
 * @returns `unsupported` where nobody takes them back
 * @throws when it may pass
 */
export async function revokeTokens(
  deps: RevocationDeps,
  provider: ModelProvider,
  credential: Pick<OAuthCredential, 'accessToken' | 'refreshToken' | 'clientId'>,
): Promise<'revoked' | 'unsupported'> {
  const { revocationEndpoint: url } = await deps.findModelServer(provider);
  if (url === undefined) return 'unsupported';
  const { accessToken, refreshToken, clientId } = credential;
  const { status } = await postAsClient(deps, provider, {
    url,
    clientId,
    parameters: {
      token: refreshToken ?? accessToken,
      token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token',
    },
  });
  if (status !== 200) throw new Error(`status ${status}`);
  return 'revoked';
}
