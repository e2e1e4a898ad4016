import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

/** The response of a server that does not take the credentials of a request, and so has not carried it out. */
export interface Refusal {
  /** The `WWW-Authenticate` header (RFC 9728, section 5.1). */
  readonly challenge: string | undefined;
  /** The scopes that the credentials, good otherwise, would have to cover too. Undefined in a plain 401. */
  readonly demandedScopes: readonly string[] | undefined;
}

/** Tells a refusal from other responses: 401, or 403 for want of a scope (RFC 6750, section 3.1). */
export function refusalOf(response: Response): Refusal | undefined {
  const challenge = response.headers.get('www-authenticate') ?? undefined;
  if (response.status === 401) return { challenge, demandedScopes: undefined };
  if (response.status !== 403) return undefined;
  const { error, scope } = extractWWWAuthenticateParams(response);
  if (error !== 'insufficient_scope') return undefined;
  return { challenge, demandedScopes: scopesOf(scope) };
}

/** The server's word only, so no more than a person would look through, and nothing that no scope is made of. */
function scopesOf(text = ''): string[] {
  const scopes = text.split(' ').filter((scope) => SCOPE.test(scope));
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}

const MAX_SCOPES = 50;
/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
