import { z } from 'zod';
import { deviceCodeAuth, apiKeyAuth, oauthAuth } from './auth-schema.ts';
import { providerUrl, requestPath, header, safeHeaders, dottedPath } from './parts.ts';
import { PROTOCOLS } from './protocols.ts';

/**
 * The page that an operator must read before offering the provider, and the provider's rule for products like this one.
 */
const terms = z.strictObject({
  page: providerUrl,
  thirdPartyUse: z.enum(['allowed', 'by_agreement', 'forbidden']),
});

const TRUE_OR_IDS = 'expected true, false or a list of model ids';

const options = z.strictObject({
  /**
   * Every request asks for a stream. `with_usage` also asks for the usage at the end of the stream; `plain` does not,
   * because some providers refuse that.
   */
  stream: z.enum(['with_usage', 'plain']).default('with_usage'),
  /** Fields that the provider does not accept in the request body. */
  omit: z.array(z.string().min(1)).default([]),
  /** Prefix of the name of each tool in requests to the provider; it is removed from the calls. */
  toolNamespace: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/, 'expected up to 21 letters, digits, - and _')
    .optional(),
  /** Models that accept a JSON Schema in OpenAI's form, without strict mode: all models, or those with these ids. */
  structuredOutputs: z
    .union([z.boolean(), z.array(z.string().min(1)).min(1, TRUE_OR_IDS)], { error: TRUE_OR_IDS })
    .default(false),
});

/** Base address of the API, without a slash at its end: the path of a request is appended. */
const baseUrl = providerUrl.refine((url) => !url.endsWith('/'), 'expected no slash at the end');

const api = z.strictObject({
  baseUrl,
  protocol: z.enum(PROTOCOLS),
  headers: safeHeaders.default({}),
  /** Header for the claim of an ID token that names the account. */
  accountHeader: z.strictObject({ name: header, claim: z.string().min(1) }).optional(),
  /**
   * Requests that a session may make, among them the POST of a model step; by default the one request of the protocol.
   */
  allow: z
    .array(z.strictObject({ method: z.enum(['GET', 'POST']), path: requestPath }))
    .refine((requests) => requests.some(({ method }) => method === 'POST'), 'expected a POST')
    .optional(),
  options: options.prefault({}),
});

/** A request that proves the credential and spends nothing. */
const verify = z.strictObject({
  /**
   * Base address; by default the base address of the API. Another address is needed if only the host of the sign-in
   * knows the credential.
   */
  baseUrl: baseUrl.optional(),
  method: z.enum(['GET', 'POST']).default('GET'),
  path: requestPath,
});

/** Request that lists the provider's models. All fields but `path` are places in its response, or in a listed item. */
const models = z.strictObject({
  path: requestPath,
  list: dottedPath,
  id: dottedPath.min(1),
  name: dottedPath.min(1).optional(),
  contextTokens: dottedPath.min(1).optional(),
  /** Keeps only models with this value, for a list that has other models besides chat models. */
  keep: z
    .strictObject({
      path: dottedPath.min(1),
      equals: z.union([z.string(), z.number(), z.boolean()]),
    })
    .optional(),
  /** The next page is requested with `parameter` set to the value at `cursor`, while the value at `more` is true. */
  page: z
    .strictObject({
      parameter: z.string().min(1),
      cursor: dottedPath.min(1),
      more: dottedPath.min(1).optional(),
    })
    .optional(),
});

/** Signs of a used-up allowance, which comes back only after hours or days. */
const limits = z.strictObject({
  /** Values in the error's body that mean a used-up allowance, as status 402 does when the error states a reset. */
  errors: z.array(z.string().min(1)).default([]),
  /** Path in the error's body to the time of the reset: Unix seconds or RFC 3339. */
  resetAt: dottedPath.min(1).optional(),
  /** Path in the error's body to the seconds until the reset. */
  resetInSeconds: dottedPath.min(1).optional(),
});

export const providerFile = z.strictObject({
  name: z.string().min(1).max(80),
  /** Page that documents the other fields. */
  documentation: providerUrl,
  terms,
  billing: z.enum(['subscription', 'usage']),
  auth: z.discriminatedUnion('kind', [deviceCodeAuth, oauthAuth, apiKeyAuth]),
  api,
  verify,
  models,
  limits: limits.prefault({}),
  /** The most calls at a time on one account. */
  concurrency: z.int().min(1).max(100).default(1),
});

export type ProviderFile = z.output<typeof providerFile>;
