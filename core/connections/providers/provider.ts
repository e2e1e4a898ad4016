import { z } from 'zod';

const url = z.url({ protocol: /^https?$/, error: 'expected a URL' });
const name = z.string().min(1).max(80);

/** Registered by the operator at the provider: `CONNECTION_<client>_CLIENT_ID` and `…_CLIENT_SECRET`. */
const oauth = z.strictObject({
  kind: z.literal('oauth'),
  client: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'upper-case, as in a variable'),
  /** Compared with `iss` in the provider's response where it sends one (RFC 9207). */
  issuer: url.optional(),
  authorizationEndpoint: url,
  tokenEndpoint: url,
  /**
   * Endpoint that revokes the tokens of a deleted connection (RFC 7009). Left out where that would end every other
   * sign-in of the same person as well.
   */
  revocationEndpoint: url.optional(),
  tokenEndpointAuth: z.enum(['client_secret_basic', 'client_secret_post']),
  scopes: z.array(z.string().min(1)).default([]),
  scopeSeparator: z.string().default(' '),
  /** Added to the authorization request, for what the standard has no words for. */
  authorizationParameters: z.record(z.string(), z.string()).default({}),
});

/** A sign-in by what the tool server says of itself (MCP authorization specification); there is nothing to register. */
const discovery = z.strictObject({ kind: z.literal('discovery') });

const apiKey = z.strictObject({
  kind: z.literal('api_key'),
  /** Stands before the key in `Authorization`. */
  scheme: z.string().min(1).default('Bearer'),
  /** The page where a person makes a key. */
  keyPage: url,
});

/** One call to the provider, with the credential in `Authorization`. */
const request = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  url,
  headers: z.record(z.string(), z.string()).default({}),
  json: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Request that lists what a credential can see, and so verifies the credential. `list`, `id` and `name` are paths into
 * the response: field names with dots between them, `*` for each item of a list. The empty path is the whole response.
 */
const accounts = z.strictObject({
  request,
  list: z.string(),
  id: z.string().min(1),
  name: z.string().min(1),
  /** A path that holds `true` in a good response, for a provider that says 200 to everything. */
  success: z.string().optional(),
});

export const CATEGORIES = [
  'analytics',
  'seo',
  'crm',
  'content',
  'communication',
  'development',
  'planning',
  'payments',
] as const;

export const providerFile = z
  .strictObject({
    name,
    category: z.enum(CATEGORIES),
    /** The page that the rest of the file was taken from. */
    documentation: url,
    auth: z.discriminatedUnion('kind', [oauth, discovery, apiKey]),
    accounts: accounts.nullable(),
    /** MCP over Streamable HTTP; null where the provider runs none. */
    toolServer: url.nullable(),
  })
  .refine(({ toolServer, auth }) => auth.kind !== 'discovery' || toolServer !== null, {
    error: 'discovery needs a tool server',
    path: ['toolServer'],
  })
  .refine(({ toolServer, accounts: lookup }) => toolServer !== null || lookup !== null, {
    error: 'one of accounts and toolServer is needed, to verify a credential',
    path: ['accounts'],
  });

/** A managed provider; its id is the name of its file. */
export type Provider = z.output<typeof providerFile> & { readonly id: string };
export type OAuthProviderAuth = z.output<typeof oauth>;
export type ProviderRequest = z.output<typeof request>;
export type AccountsLookup = z.output<typeof accounts>;
