import { hash } from 'node:crypto';
import { isHttpsUrl, resolveClientMetadata } from '@modelcontextprotocol/client';
import { issuerName, readRegistration } from '#core/clients/oauth/index.ts';
import { parseJson } from '#lib/exact-json/parse.ts';
import type { Log } from '#lib/log.ts';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import { TOOL_SERVER, type ProviderCatalogue } from '../providers/catalogue.ts';
import type { OAuthClient, DiscoveredServer } from './authorization-server.ts';
import { SignInError } from './sign-in.ts';

/**
 * Returns the address of this service's client metadata document for a callback. The addresses never change: each is
 * the client id at every authorization server that has seen it. Each issuer of tool servers has a separate document,
 * because the document names the return address. The address without a callback serves all other sign-ins.
 */
export function clientMetadataUrlOf(publicUrl: string): (callback: string) => string {
  return (callback) => `${publicUrl}/oauth/client-metadata${isIssuerCallback(callback) ? `/${callback}` : ''}.json`;
}

function callbacksAt(path: string, providers: ProviderCatalogue): string[] | undefined {
  const match = /^\/oauth\/client-metadata(?:\/([^/]+))?\.json$/.exec(path);
  if (match === null) return undefined;
  const [, callback] = match;
  if (callback !== undefined) return isIssuerCallback(callback) ? [callback] : undefined;
  const discovered = providers.providers.filter(({ auth }) => auth.kind === 'discovery');
  return [TOOL_SERVER, ...discovered.map(({ id }) => id)];
}

function clientMetadata(redirectUris: string[], authMethod: string) {
  return resolveClientMetadata({
    redirectUrl: redirectUris[0],
    clientMetadata: {
      client_name: 'Routine Automation Service',
      redirect_uris: redirectUris,
      response_types: ['code'],
      token_endpoint_auth_method: authMethod,
    },
  });
}

/**
 * Makes the client metadata document at a path (draft-ietf-oauth-client-id-metadata-document); undefined if the path
 * has none. Authorization servers read the document in place of a registration, and accept only its return addresses.
 */
export function clientMetadataDocument(
  path: string,
  input: { publicUrl: string; uiOrigin: string; providers: ProviderCatalogue },
) {
  const { publicUrl, uiOrigin, providers } = input;
  const callbacks = callbacksAt(path, providers);
  if (callbacks === undefined) return undefined;
  return {
    client_id: `${publicUrl}${path}`,
    client_uri: publicUrl,
    ...clientMetadata(
      callbacks.map((name) => redirectUriOf(uiOrigin, name)),
      'none',
    ),
  };
}

/**
 * Uses the address of the metadata document as client id. Returns undefined without https, which the draft demands, and
 * for an address that outside servers cannot read: the sign-in would fail at the provider, where the person cannot mend
 * it.
 */
export function clientByMetadata(outbound: Pick<OutboundClient, 'urlFault'>, url: string): OAuthClient | undefined {
  if (!isHttpsUrl(url) || outbound.urlFault(url) !== undefined) return undefined;
  return { id: url, authMethod: 'none', given: false };
}

/** Registers this service at an authorization server for one connection (RFC 7591). @throws {SignInError} */
export async function registerAt(
  { fetch, log }: { readonly fetch: typeof globalThis.fetch; readonly log: Pick<Log, 'warn'> },
  { metadata, scope }: DiscoveredServer,
  redirectUri: string,
): Promise<OAuthClient> {
  const url = metadata.registration_endpoint;
  if (url === undefined) throw SignInError.noRegistration(redirectUri);
  // A missing list means `client_secret_basic` (RFC 8414, section 2).
  const supported = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authMethod = AUTH_METHODS.find((method) => supported.includes(method)) ?? 'none';
  const wanted = { ...clientMetadata([redirectUri], authMethod), ...(scope === undefined ? {} : { scope }) };
  const { ok, text } = await post(fetch, url, JSON.stringify(wanted));
  if (!ok) throw new SignInError('registration_refused');
  const { value, dropped } = readRegistration(parseJson(text));
  if (value === undefined) throw new SignInError('registration_unreadable');
  if (dropped.length > 0)
    log.warn({ host: new URL(url).host, fields: dropped }, 'fields of a registration were left out');
  return { ...value, given: false };
}

async function post(fetch: typeof globalThis.fetch, url: string, body: string) {
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return { ok: response.ok, text: await response.text() };
  } catch (error) {
    throw error instanceof OutboundError ? SignInError.of(error) : error;
  }
}

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'];

/**
 * Names the callback of a sign-in. A hostile authorization server can send a person on to another server to steal a
 * code. So each issuer has its own callback, and a response at another callback ends the sign-in (RFC 9700, section
 * 4.4.2.2). A managed provider's callback has the provider's name.
 */
export function callbackOf(provider: string, issuer: string | undefined): string {
  if (provider !== TOOL_SERVER) return provider;
  return `${TOOL_SERVER}-${hash('sha256', issuerName(issuer ?? ''), 'hex').slice(0, DIGEST_LENGTH)}`;
}

function isIssuerCallback(name: string): boolean {
  return ISSUER_CALLBACK.test(name);
}

/** Hexadecimal digits of the digest: 128 bits, so that no one can make a second issuer with the same digest. */
const DIGEST_LENGTH = 32;
const ISSUER_CALLBACK = new RegExp(`^${TOOL_SERVER}-[0-9a-f]{${DIGEST_LENGTH}}$`);

/**
 * Returns the address to which a provider sends people back. The address never changes, because the provider has
 * registered it.
 */
export function redirectUriOf(uiOrigin: string, callback: string): string {
  return `${uiOrigin}/oauth/callback/${callback}`;
}
