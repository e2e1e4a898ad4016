import { formOf, json, PAGE } from './answers.ts';
import type { OddCase } from './odd-case.ts';

const WORKS = { state: 'succeeded', outcome: 'done' } as const;

/** No expiry of the token is known, so the run does not renew it. */
const UNSAID = { expires: false, runs: [{ ...WORKS, refreshes: 0 }] } as const;

const INCOMPLETE = /did not complete the sign-in/;

/** Odd documents, registrations and first tokens. */
export const SIGN_INS: readonly OddCase[] = [
  { name: 'keeps to the rules', answers: {}, runs: [{ ...WORKS, refreshes: 1 }] },
  // Cases about the two metadata documents.
  {
    name: 'has nulls in the metadata of the resource',
    answers: { resource: () => ({ scopes_supported: null, jwks_uri: null, resource_name: null }) },
  },
  {
    name: 'does not name its resource',
    answers: { resource: () => ({ resource: null }) },
  },
  {
    name: 'has nulls in the metadata of the server',
    answers: {
      server: () => ({
        scopes_supported: null,
        revocation_endpoint: null,
        service_documentation: null,
        token_endpoint_auth_methods_supported: null,
        authorization_response_iss_parameter_supported: null,
        client_id_metadata_document_supported: null,
      }),
    },
  },
  {
    name: 'has fields of other types in its metadata',
    answers: { server: () => ({ service_documentation: '', scopes_supported: {}, revocation_endpoint: 7 }) },
  },
  {
    name: 'writes its lists as texts',
    answers: {
      resource: (origin) => ({ authorization_servers: origin, scopes_supported: 'tools' }),
      server: () => ({ code_challenge_methods_supported: 'plain S256' }),
    },
  },
  { name: 'names no response types', answers: { server: () => ({ response_types_supported: null }) } },
  { name: 'has its metadata at the place of OpenID Connect alone', answers: { oidcOnly: true } },
  {
    name: 'has a page where others have their metadata',
    answers: { oidcOnly: true, elsewhere: PAGE },
  },
  {
    name: 'has an error with status 200 where others have their metadata',
    answers: { oidcOnly: true, elsewhere: json({ error: 'not_found' }) },
  },
  {
    name: 'names no way of PKCE',
    answers: { server: () => ({ code_challenge_methods_supported: null }) },
    refusal: /PKCE/,
  },
  // Cases about issuers.
  { name: 'has a slash behind its issuer', answers: { server: (origin) => ({ issuer: `${origin}/` }) } },
  {
    name: 'has a slash behind its issuer in the metadata of the resource',
    answers: { resource: (origin) => ({ authorization_servers: [`${origin}/`] }) },
  },
  {
    name: 'has a slash behind its issuer everywhere',
    answers: {
      resource: (origin) => ({ authorization_servers: [`${origin}/`] }),
      server: (origin) => ({ issuer: `${origin}/`, authorization_response_iss_parameter_supported: true }),
      iss: (origin) => `${origin}/`,
    },
  },
  { name: 'has a slash behind the issuer of its response', answers: { iss: (origin) => `${origin}/` } },
  {
    name: 'has a slash behind its issuer, and none in its response',
    answers: { server: (origin) => ({ issuer: `${origin}/` }), iss: (origin) => origin },
  },
  {
    name: 'writes its issuer in capitals',
    answers: { server: (origin) => ({ issuer: origin.toUpperCase() }), iss: (origin) => origin },
  },
  {
    name: 'calls itself another host',
    answers: { server: () => ({ issuer: 'https://accounts.example.com' }) },
    refusal: /calls itself https:\/\/accounts\.example\.com, the tool server says http:\/\/127\.0\.0\.1:\d+\.$/,
  },
  {
    name: 'calls itself another path',
    answers: { server: (origin) => ({ issuer: `${origin}/tenant` }) },
    refusal: /calls itself http:\/\/127\.0\.0\.1:\d+\/tenant, the tool server says http:\/\/127\.0\.0\.1:\d+\.$/,
  },
  {
    name: 'answers under another issuer',
    answers: { iss: (origin) => `${origin}/tenant` },
    refusal: /not from the authorization server/,
  },
  { name: 'has a slash behind its resource', answers: { resource: (origin) => ({ resource: `${origin}/mcp/` }) } },
  { name: 'names its whole host as the resource', answers: { resource: (origin) => ({ resource: origin }) } },
  {
    name: 'names the resource of another',
    answers: { resource: () => ({ resource: 'https://bank.example.com/mcp' }) },
    refusal: /The metadata of the tool server names another server as the resource/,
  },
  // Cases about registrations.
  {
    name: 'has nulls in a registration',
    answers: {
      registration: (client) =>
        json({ ...client, client_secret: null, client_uri: null, scope: null, client_secret_expires_at: null }, 201),
    },
  },
  {
    name: 'answers a registration with the id alone, and status 200',
    answers: { registration: (client) => json({ client_id: idOf(client) }) },
  },
  {
    name: 'registers a way to authenticate that does not exist',
    answers: { registration: (client) => json({ ...client, token_endpoint_auth_method: 'private_key_jwt' }, 201) },
  },
  {
    name: 'registers a way to authenticate that needs a secret, and gives none',
    answers: { registration: (client) => json({ ...client, token_endpoint_auth_method: 'client_secret_basic' }, 201) },
  },
  {
    name: 'answers a registration without an id',
    answers: { registration: () => json({ client_secret: 'secret' }, 201) },
    refusal: /answered the registration of a client without a client_id/,
  },
  {
    name: 'answers a registration with a page',
    answers: { registration: () => ({ status: 201, text: '<html></html>', type: 'text/html' }) },
    refusal: /answered the registration of a client without a client_id/,
  },
  {
    name: 'refuses a registration',
    answers: { registration: () => json({ error: 'invalid_client_metadata' }, 400) },
    refusal: /refused to register a client/,
  },
  // Cases about first tokens.
  {
    name: 'leaves out the type of its tokens',
    answers: { tokens: (tokens) => json({ ...tokens, token_type: undefined }) },
  },
  {
    name: 'has nulls beside its token',
    answers: { tokens: (tokens) => json({ ...tokens, token_type: null, scope: null, id_token: null }) },
  },
  {
    name: 'has fields of other types beside its token',
    answers: { tokens: (tokens) => json({ ...tokens, token_type: 7, scope: { all: true }, id_token: [] }) },
  },
  { name: 'lists its scopes', answers: { tokens: (tokens) => json({ ...tokens, scope: ['tools', 'more'] }) } },
  { name: 'says null of the life of its token', answers: { tokens: lives(null) }, ...UNSAID },
  { name: 'says nothing of the life of its token', answers: { tokens: lives('') }, ...UNSAID },
  { name: 'says a word of the life of its token', answers: { tokens: lives('soon') }, ...UNSAID },
  { name: 'says that its token lives for 0 seconds', answers: { tokens: lives(0) }, ...UNSAID },
  { name: 'says that its token ended before', answers: { tokens: lives(-1) }, ...UNSAID },
  {
    name: 'gives a token of 0 seconds, and none to renew it',
    answers: { tokens: (tokens) => json({ ...tokens, expires_in: 0, refresh_token: null }) },
    ...UNSAID,
  },
  { name: 'writes the life of its token as a text', answers: { tokens: lives('3600') } },
  { name: 'gives tokens that live for half a minute', answers: { tokens: lives(30) } },
  {
    name: 'sends two access tokens in one response',
    answers: {
      tokens: (tokens) => ({ text: JSON.stringify(tokens).replace('{', '{"access_token":"the one before",') }),
    },
  },
  {
    name: 'sends its tokens as a form',
    answers: {
      tokens: (tokens) => ({
        text: formOf(tokens),
        type: 'application/x-www-form-urlencoded',
      }),
    },
  },
  {
    name: 'sends its tokens as a form, under the name of a text',
    answers: { tokens: (tokens) => ({ text: formOf(tokens), type: 'text/plain; charset=utf-8' }) },
  },
  {
    name: 'sends its tokens as JSON, under the name of a form',
    answers: { tokens: (tokens) => ({ ...json(tokens), type: 'application/x-www-form-urlencoded' }) },
  },
  {
    name: 'sends its tokens behind a byte order mark, under the name of a page',
    answers: { tokens: (tokens) => ({ text: `\uFEFF${JSON.stringify(tokens)}\n`, type: 'text/html' }) },
  },
  {
    name: 'sends its token with a line break behind it',
    answers: { tokens: (tokens) => json({ ...tokens, access_token: `${String(tokenOf(tokens))}\n` }) },
  },
  {
    name: 'sends an error beside its tokens',
    answers: { tokens: (tokens) => json({ ...tokens, error: null, error_description: '' }, 201) },
  },
  {
    name: 'says until when its token lives, and not how long',
    answers: { tokens: lives('2030-01-01T00:00:00Z') },
    ...UNSAID,
  },
  { name: 'writes the life of its token with a unit', answers: { tokens: lives('3600s') }, ...UNSAID },
  { name: 'gives tokens that live for a fraction of seconds', answers: { tokens: lives(3599.5) } },
  { name: 'gives tokens that live longer than a date can say', answers: { tokens: lives(1e300) } },
  { name: 'says a list of lives', answers: { tokens: lives([3600]) }, ...UNSAID },
  { name: 'says true of the life of its token', answers: { tokens: lives(true) }, ...UNSAID },
  { name: 'puts commas between its scopes', answers: { tokens: (tokens) => json({ ...tokens, scope: 'tools,more' }) } },
  {
    name: 'puts its tokens into another object',
    answers: { tokens: (tokens) => json({ data: tokens, access_token: null }) },
    refusal: INCOMPLETE,
  },
  { name: 'sends a page in place of tokens', answers: { tokens: () => PAGE }, refusal: INCOMPLETE },
  {
    name: 'sends 2 MB of tokens',
    answers: { tokens: (tokens) => json({ ...tokens, pad: 'x'.repeat(2 ** 21) }) },
    refusal: INCOMPLETE,
  },
  { name: 'sends an error with status 200', answers: { tokens: () => json({ code: 401 }) }, refusal: INCOMPLETE },
  {
    name: 'sends a token that no header can hold',
    answers: { tokens: (tokens) => json({ ...tokens, access_token: 'two\r\nlines' }) },
    refusal: INCOMPLETE,
  },
];

function lives(expiresIn: unknown) {
  return (tokens: object) => json({ ...tokens, expires_in: expiresIn });
}

function tokenOf(tokens: object): unknown {
  return 'access_token' in tokens ? tokens.access_token : undefined;
}

function idOf(client: object): unknown {
  return 'client_id' in client ? client.client_id : undefined;
}
