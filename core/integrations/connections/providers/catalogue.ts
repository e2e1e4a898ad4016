import path from 'node:path';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import type { ConnectionClients } from '#lib/config/index.ts';
import { AppError } from '#lib/errors.ts';

/** Name that addresses contain in place of a provider's when people sign in to their own tool server. */
export const TOOL_SERVER = 'tool-server';

export interface ProviderCatalogue {
  /** Providers, sorted by category and name. */
  readonly providers: readonly Provider[];
  /** Tells whether people can connect: the operator has registered everything that the provider requires. */
  isConfigured(provider: Provider): boolean;
  /** @throws {AppError} `provider_not_found` */
  find(id: string): Provider;
  /** The client that the operator registered at the provider. @throws {AppError} `provider_disabled` */
  clientOf(provider: Provider): { readonly clientId: string; readonly clientSecret: string };
}

const FOLDER = fileURLToPath(new URL('./catalogue/', import.meta.url));

/**
 * Reads the providers once, at start: the shipped providers, and those in the operator's folder, which replace shipped
 * providers of the same name.
 * @throws naming the first broken file and its errors, or a client that belongs to no provider
 */
export async function loadProviders(clients: ConnectionClients, ownFolder?: string): Promise<ProviderCatalogue> {
  const folders = ownFolder === undefined ? [FOLDER] : [FOLDER, ownFolder];
  const byId = new Map<string, Provider>();
  for (const provider of (await Promise.all(folders.map(readFolder))).flat()) {
    byId.set(provider.id, provider);
  }
  const providers = [...byId.values()].toSorted(
    (a, b) => a.category.localeCompare(b.category) || a.name.localeCompare(b.name),
  );
  const known = new Set(providers.flatMap(({ auth }) => (auth.kind === 'oauth' ? auth.client : [])));
  for (const client of Object.keys(clients)) {
    if (!known.has(client)) throw new Error(`CONNECTION_${client}_CLIENT_ID: no such provider`);
  }
  return {
    providers,
    isConfigured: ({ auth }) => auth.kind !== 'oauth' || clients[auth.client] !== undefined,
    find(id) {
      const found = byId.get(id);
      if (found === undefined) throw new AppError('provider_not_found');
      return found;
    },
    clientOf({ auth }) {
      const client = auth.kind === 'oauth' ? clients[auth.client] : undefined;
      if (client === undefined) {
        throw new AppError('provider_disabled', 'This provider is not configured here.');
      }
      return client;
    },
  };
}

async function readFolder(folder: string): Promise<Provider[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));
  return Promise.all(files.map(async (file) => readProvider(file, await readFile(path.join(folder, file), 'utf8'))));
}

/** @throws naming the file and its errors */
export function readProvider(file: string, text: string): Provider {
  const id = file.replace(/\.yaml$/, '');
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id) || id === TOOL_SERVER) {
    throw new Error(`provider ${file}: the file name must be a free kebab-case name`);
  }
  const parsed = providerFile.safeParse(parseYaml(text));
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`);
    throw new Error(`provider ${file}: ${faults.join('; ')}`);
  }
  return { id, ...parsed.data };
}

const url = z.url({ protocol: /^https?$/, error: 'expected a URL' });
const name = z.string().min(1).max(80);

/** Sign-in with the client that the operator registered: `CONNECTION_<client>_CLIENT_ID` and `…_CLIENT_SECRET`. */
const oauth = z.strictObject({
  kind: z.literal('oauth'),
  client: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'upper-case, as in a variable'),
  /** Issuer to compare with `iss` of the provider's response, if the response has one (RFC 9207). */
  issuer: url.optional(),
  authorizationEndpoint: url,
  tokenEndpoint: url,
  /**
   * Endpoint that revokes the tokens of a deleted connection (RFC 7009). Left out when a revocation would also end the
   * person's other sign-ins.
   */
  revocationEndpoint: url.optional(),
  tokenEndpointAuth: z.enum(['client_secret_basic', 'client_secret_post']),
  scopes: z.array(z.string().min(1)).default([]),
  scopeSeparator: z.string().default(' '),
  /** Parameters of the authorization request that the standard does not name. */
  authorizationParameters: z.record(z.string(), z.string()).default({}),
});

/** Sign-in that the tool server describes itself (MCP authorization specification). Nothing has to be registered. */
const discovery = z.strictObject({ kind: z.literal('discovery') });

const apiKey = z.strictObject({
  kind: z.literal('api_key'),
  /** Word before the key in `Authorization`. */
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
 * Request that lists the accounts of a credential, and so verifies the credential. `list`, `id` and `name` are paths
 * into the response: field names with dots between them, `*` for each item of a list. The empty path is the whole
 * response.
 */
const accounts = z.strictObject({
  request,
  list: z.string(),
  id: z.string().min(1),
  name: z.string().min(1),
  /** Path to a field that is `true` in a good response, for a provider that responds 200 to everything. */
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
    /** Page that documents the content of this file. */
    documentation: url,
    auth: z.discriminatedUnion('kind', [oauth, discovery, apiKey]),
    accounts: accounts.nullable(),
    /** Address of the tool server (MCP over Streamable HTTP); null if the provider runs none. */
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
