import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

/** A tool server does not take the credentials of a request, which it has therefore not carried out. */
export interface Refusal {
  /** The `WWW-Authenticate` header (RFC 9728, section 5.1). */
  readonly challenge: string | undefined;
  /** The credentials are good, but not for this: what they would have to cover too. Undefined of a plain 401. */
  readonly demandedScopes: readonly string[] | undefined;
}

/** Whether an answer is a refusal: 401, or 403 for want of a scope (RFC 6750, section 3.1). */
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
