import { z } from 'zod';
import { deviceCodeAuth, apiKeyAuth, oauthAuth } from './auth-schema.ts';
import { providerUrl, requestPath, header, safeHeaders, dottedPath } from './parts.ts';
import { PROTOCOLS } from './protocols.ts';

/** The page that an operator has to read before the provider is offered, and its words about products like this one. */
const terms = z.strictObject({
  page: providerUrl,
  thirdPartyUse: z.enum(['allowed', 'by_agreement', 'forbidden']),
});

const TRUE_OR_IDS = 'expected true, false or a list of model ids';

const options = z.strictObject({
  /**
   * The request always asks for a stream; `plain` leaves out the request for usage at its end, if a provider refuses
   * it.
   */
  stream: z.enum(['with_usage', 'plain']).default('with_usage'),
  /** Fields of the request body that the provider does not take. */
  omit: z.array(z.string().min(1)).default([]),
  /** Stands before the name of each tool on the way to the provider, and is taken off its calls. */
  toolNamespace: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/, 'expected up to 21 letters, digits, - and _')
    .optional(),
  /**
   * Models that can be held to a JSON Schema by the request, in OpenAI's way and not strictly: every one of the list,
   * or those with these ids.
   */
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
  /** A header that carries the claim of the ID token which names the account. */
  accountHeader: z.strictObject({ name: header, claim: z.string().min(1) }).optional(),
  /** Requests that a session may make, the first POST for a model step; by default the one request of the protocol. */
  allow: z
    .array(z.strictObject({ method: z.enum(['GET', 'POST']), path: requestPath }))
    .refine((requests) => requests.some(({ method }) => method === 'POST'), 'expected a POST')
    .optional(),
  options: options.prefault({}),
});

/** A request that proves the credential and spends nothing. */
const verify = z.strictObject({
  /** The API's by default; another one where only the sign-in's own host knows the credential. */
  baseUrl: baseUrl.optional(),
  method: z.enum(['GET', 'POST']).default('GET'),
  path: requestPath,
});

/**
 * Request that lists the provider's models. All fields but `path` are places in its response, or in an item of its
 * list.
 */
const models = z.strictObject({
  path: requestPath,
  list: dottedPath,
  id: dottedPath.min(1),
  name: dottedPath.min(1).optional(),
  contextTokens: dottedPath.min(1).optional(),
  /** Keeps the models with this value there, for a list with more than chat models. */
  keep: z
    .strictObject({
      path: dottedPath.min(1),
      equals: z.union([z.string(), z.number(), z.boolean()]),
    })
    .optional(),
  /** The next page is asked for with `parameter` set to the value at `cursor`, while the value at `more` is true. */
  page: z
    .strictObject({
      parameter: z.string().min(1),
      cursor: dottedPath.min(1),
      more: dottedPath.min(1).optional(),
    })
    .optional(),
});

/** Signs of a used-up allowance, which returns after hours or days and not with the next attempt. */
const limits = z.strictObject({
  /** Values of any field in the error's body that mean it. Status 402 means it too when a reset is stated. */
  errors: z.array(z.string().min(1)).default([]),
  /** Place in the error's body of the time at which it resets: Unix seconds or RFC 3339. */
  resetAt: dottedPath.min(1).optional(),
  /** Place in the error's body of the seconds until then. */
  resetInSeconds: dottedPath.min(1).optional(),
});

export const providerFile = z.strictObject({
  name: z.string().min(1).max(80),
  /** The source of the other fields. */
  documentation: providerUrl,
  terms,
  billing: z.enum(['subscription', 'usage']),
  auth: z.discriminatedUnion('kind', [deviceCodeAuth, oauthAuth, apiKeyAuth]),
  api,
  verify,
  models,
  limits: limits.prefault({}),
  /** Calls at a time on one account. */
  concurrency: z.int().min(1).max(100).default(1),
});

export type ProviderFile = z.output<typeof providerFile>;
