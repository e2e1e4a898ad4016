import { startAuthorization } from '@modelcontextprotocol/client';
import { clientInformationOf, metadataOf } from './authorization-server.ts';
import { SignInError } from './sign-in-error.ts';
import type { SignInTarget } from './target.ts';

/**
 * Returns the address that begins a sign-in (RFC 6749, section 4.1.1), and the verifier behind its challenge (RFC
 * 7636).
 */
export async function authorizationRequest(
  { server, client, scope, resource, parameters }: SignInTarget,
  redirectUri: string,
  state: string,
) {
  try {
    const started = await startAuthorization(server.tokenEndpoint, {
      metadata: metadataOf(server),
      clientInformation: clientInformationOf(client),
      redirectUrl: redirectUri,
      state,
      ...(scope === undefined ? {} : { scope }),
      ...(resource === null ? {} : { resource }),
    });
    for (const [name, value] of Object.entries(parameters)) {
      started.authorizationUrl.searchParams.set(name, value);
    }
    return started;
  } catch {
    throw new SignInError('no_metadata');
  }
}
