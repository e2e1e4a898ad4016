const MARK = '[redacted]';

/** Schemes with a credential: the schemes of IANA's registry, and schemes that services made up. */
const SCHEME =
  '(?:Basic|Bearer|Digest|DPoP|GNAP|Negotiate|NTLM|OAuth|Token|ApiKey|Api-Key|Key|AWS4-HMAC-SHA256|SCRAM-SHA-256)';

/** Matches a token (RFC 9110, `token68`), or parameters as Digest has them. */
const CREDENTIALS = String.raw`(?:(?:[\w-]+=(?:"[^"]*"|[^\s,"']+),?\s*)+|[\w.~+/-]+=*)`;

/** Matches a header in a request, an object or a command line. */
const HEADER = new RegExp(String.raw`\b(authorization["']?\s*[:=]\s*["']?${SCHEME})\s+${CREDENTIALS}`, 'gi');

/** Matches a credential without its header. A digit is required, so that "Basic requirements" does not match. */
const ALONE = /\b(Bearer|Basic|Token|ApiKey|DPoP|Negotiate)\s+(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*/gi;

/** Removes the credentials of `Authorization` headers from a text, in every scheme. */
export function redactAuthorization(text: string): string {
  return text.replaceAll(HEADER, `$1 ${MARK}`).replaceAll(ALONE, `$1 ${MARK}`);
}
