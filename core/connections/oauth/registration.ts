import { registerClient } from '@modelcontextprotocol/client';
import { OutboundError } from '#lib/outbound/index.ts';
import type { OAuthClient } from './authorization-server.ts';
import { clientMetadata } from './client-metadata.ts';
import type { DiscoveredServer } from './discovery.ts';
import { SignInError } from './sign-in-error.ts';

/** Registers us at an authorization server for one connection (RFC 7591). @throws {SignInError} */
export async function registerAt(
  fetch: typeof globalThis.fetch,
  { metadata, scope }: DiscoveredServer,
  redirectUri: string,
): Promise<OAuthClient> {
  if (metadata.registration_endpoint === undefined) throw SignInError.noRegistration(redirectUri);
  try {
    const registered = await registerClient(metadata.issuer, {
      metadata,
      clientMetadata: clientMetadata(
        [redirectUri],
        authMethodFor(metadata.token_endpoint_auth_methods_supported),
      ),
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    });
    return {
      id: registered.client_id,
      secret: registered.client_secret,
      authMethod: registered.token_endpoint_auth_method,
      given: false,
    };
  } catch (error) {
    if (error instanceof OutboundError) throw SignInError.of(error);
    throw new SignInError('registration_refused');
  }
}

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'];

/** Chooses a secret where the server takes one; a list left out means `client_secret_basic` (RFC 8414, section 2). */
function authMethodFor(supported: readonly string[] = ['client_secret_basic']): string {
  return AUTH_METHODS.find((method) => supported.includes(method)) ?? 'none';
}
