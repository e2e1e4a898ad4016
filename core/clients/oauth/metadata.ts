import { isJsonObject, parseJson } from '#lib/json.ts';
import { fieldsOf, textIn, textsIn } from './responses.ts';

/**
 * Normalizes the name of an issuer. Servers write it with and without a slash at its end, although RFC 8414 requires
 * equal texts.
 */
export function issuerName(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
}

/** Compares issuers as addresses: capitals in the name of a host and the usual port make no difference. */
export function isSameIssuer(one: string, other: string): boolean {
  const [name, otherName] = [one, other].map((each) => issuerName(URL.parse(each)?.href ?? each));
  return name === otherName;
}

/**
 * Tells whether a response is from the issuer at which its sign-in began (RFC 9207, section 2.4). The response must
 * name an issuer if the metadata promises one. If the issuer is not known, every response passes.
 */
export function isFromIssuer(
  { issuer, sendsIssuer }: { readonly issuer?: string | undefined; readonly sendsIssuer: boolean },
  iss: string | undefined,
): boolean {
  if (issuer === undefined) return true;
  return iss === undefined ? !sendsIssuer : isSameIssuer(iss, issuer);
}

/** Returns an issuer for an error message: an address, cut at 200 characters, or a placeholder for any other text. */
export function shownIssuer(issuer: string): string {
  const url = URL.parse(issuer);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'something that is no address';
  // Return the issuer as it was written, because the difference may be the slash.
  const plain = `${url.origin}${url.pathname}`;
  return (plain === `${issuer}/` ? issuer : plain).slice(0, 200);
}

/**
 * Reads the fields for a sign-in from the metadata of an authorization server (RFC 8414), and drops unreadable fields.
 */
export function readServerMetadata(body: unknown) {
  const { read, dropped } = fieldsOf(body);
  const address = (name: string) => read(name, addressIn);
  const texts = (name: string) => read(name, textsIn);
  const flag = (name: string) => read(name, (value) => (typeof value === 'boolean' ? value : undefined));
  const value = {
    issuer: read('issuer', textIn),
    authorization_endpoint: address('authorization_endpoint'),
    token_endpoint: address('token_endpoint'),
    device_authorization_endpoint: address('device_authorization_endpoint'),
    registration_endpoint: address('registration_endpoint'),
    revocation_endpoint: address('revocation_endpoint'),
    jwks_uri: address('jwks_uri'),
    scopes_supported: texts('scopes_supported'),
    code_challenge_methods_supported: texts('code_challenge_methods_supported'),
    token_endpoint_auth_methods_supported: texts('token_endpoint_auth_methods_supported'),
    authorization_response_iss_parameter_supported: flag('authorization_response_iss_parameter_supported'),
    client_id_metadata_document_supported: flag('client_id_metadata_document_supported'),
  };
  return { value, dropped };
}

function readResourceMetadata(body: unknown, asked: string) {
  const { read, dropped } = fieldsOf(body);
  const value = {
    resource: read('resource', textIn) ?? asked,
    authorization_servers: read('authorization_servers', textsIn),
    scopes_supported: read('scopes_supported', textsIn),
  };
  return { value, dropped };
}

/**
 * Wraps a `fetch` so that the MCP client library gets only the readable fields of the two metadata documents: the
 * schemas of the library refuse a whole document because of one unreadable field.
 * @param asked the address of the tool server
 * @param onDropped gets the names of the fields that could not be read
 */
export function readableDocuments(
  fetch: typeof globalThis.fetch,
  asked: string,
  onDropped: (fields: readonly string[]) => void,
): { readonly ofServer: typeof globalThis.fetch; readonly ofResource: typeof globalThis.fetch } {
  const reading =
    (read: (body: unknown) => Document | undefined): typeof fetch =>
    async (...request) => {
      const response = await fetch(...request);
      if (!response.ok) return response;
      const found = read(parseJson(await response.text()));
      // A server that has a page for every address has no document here. The library then asks at the next address.
      if (found === undefined) return new Response(null, { status: 404 });
      if (found.dropped.length > 0) onDropped(found.dropped);
      return Response.json(found.value);
    };
  return {
    ofResource: reading((body) => (isJsonObject(body) ? readResourceMetadata(body, asked) : undefined)),
    ofServer: reading((body) => {
      const { value, dropped } = readServerMetadata(body);
      if (value.issuer === undefined) return undefined;
      return { value: { ...UNUSED, ...value, jwks_uri: value.jwks_uri ?? value.token_endpoint }, dropped };
    }),
  };
}

interface Document {
  readonly value: object;
  readonly dropped: readonly string[];
}

/** Fields that the library demands of OpenID Connect providers, and that no sign-in here uses. */
const UNUSED = {
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
};

function addressIn(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? String(value) : undefined;
}
