import { z } from 'zod';
import { header, providerUrl } from './parts.ts';

const parameters = z
  .record(z.string().min(1), z.string())
  .refine((given) => !('client_id' in given || 'client_secret' in given), {
    error: 'a client is named by MODEL_PROVIDER_<X>_CLIENT_ID, never in the file',
  });

const oauthFields = {
  /**
   * Issuer, from which missing settings are discovered, and with which `iss` of responses and ID tokens is compared.
   */
  issuer: providerUrl.optional(),
  tokenEndpoint: providerUrl.optional(),
  revocationEndpoint: providerUrl.optional(),
  tokenEndpointAuth: z.enum(['none', 'client_secret_basic', 'client_secret_post']).default('none'),
  tokenBody: z.enum(['form', 'json']).default('form'),
  scopes: z.array(z.string().min(1)).default([]),
  scopeSeparator: z.string().min(1).default(' '),
  /** Scopes that must be granted: a sign-in without one of them is refused. */
  requiredScopes: z.array(z.string().min(1)).default([]),
  /** Resource indicator (RFC 8707). */
  resource: z.url({ protocol: /^https?$/ }).optional(),
  extraTokenParameters: parameters.default({}),
  /** Errors of the token endpoint that mean "sign in again". */
  refusals: z.array(z.string().min(1)).default(['invalid_grant']),
  /** Claims of a verified ID token: one for the identity of the account, one for its label. */
  accountIdClaim: z.string().min(1).default('sub'),
  accountLabelClaim: z.string().min(1).optional(),
};

/** Sign-in by the device authorization grant (RFC 8628). */
export const deviceCodeAuth = z
  .strictObject({
    kind: z.literal('device_code'),
    ...oauthFields,
    deviceAuthorizationEndpoint: providerUrl.optional(),
    extraDeviceParameters: parameters.default({}),
  })
  .superRefine((auth, context) => {
    requireEndpoints(auth, ['tokenEndpoint', 'deviceAuthorizationEndpoint'], context);
  });

/** Sign-in by an authorization code with PKCE. */
export const oauthAuth = z
  .strictObject({
    kind: z.literal('oauth'),
    ...oauthFields,
    authorizationEndpoint: providerUrl.optional(),
    authorizationParameters: parameters.default({}),
    /** `paste`: the person copies the final address, for a provider that allows no other redirect. */
    redirect: z.enum(['callback', 'paste']).default('callback'),
    /** Address registered at the provider. No server needs to answer it, because the person copies it at the end. */
    redirectUri: z.url({ protocol: /^https?$/ }).optional(),
    pkce: z.literal('S256').default('S256'),
    /** True if the callback names the client id to use from then on. */
    issuedClientId: z.boolean().default(false),
    instanceIdParameter: z.string().min(1).optional(),
  })
  .superRefine((auth, context) => {
    requireEndpoints(auth, ['tokenEndpoint', 'authorizationEndpoint'], context);
    if ((auth.redirect === 'paste') === (auth.redirectUri !== undefined)) return;
    const message = auth.redirect === 'paste' ? 'required with redirect: paste' : 'only with redirect: paste';
    context.addIssue({ code: 'custom', path: ['redirectUri'], message });
  });

export const apiKeyAuth = z.strictObject({
  kind: z.literal('api_key'),
  header: z.union([z.literal('authorization'), header]).default('authorization'),
  /** Prefix of the key; by default the key has no prefix. */
  scheme: z
    .string()
    .regex(/^[A-Za-z]*$/)
    .default('Bearer'),
  /** Address of the page where a person makes a key. */
  keyPage: providerUrl,
  /** A key that does not match is refused before it is sent. */
  pattern: z.string().max(200).refine(isRegExp, 'expected a regular expression').default('^[\\x21-\\x7e]{8,512}$'),
});

function requireEndpoints<T extends { readonly issuer?: string | undefined }>(
  auth: T,
  names: readonly (keyof T & string)[],
  context: z.RefinementCtx,
): void {
  if (auth.issuer !== undefined) return;
  for (const name of names) {
    if (auth[name] === undefined) {
      context.addIssue({ code: 'custom', path: [name], message: 'required without an issuer' });
    }
  }
}

function isRegExp(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
