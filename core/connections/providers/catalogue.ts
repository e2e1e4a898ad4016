import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import type { ConnectionClients } from '#lib/config/index.ts';
import { AppError } from '#lib/errors.ts';
import { providerFile, type Provider } from './provider.ts';

/** Taken in addresses for the sign-in at a self-managed tool server. */
export const TOOL_SERVER = 'tool-server';

export interface ProviderCatalogue {
  /** Providers, sorted by category and name. */
  readonly providers: readonly Provider[];
  /** Tells whether people can connect: everything that the operator has to register is there. */
  isConfigured(provider: Provider): boolean;
  /** @throws {AppError} `provider_not_found` */
  find(id: string): Provider;
  /** The client that the operator registered at the provider. @throws {AppError} `provider_disabled` */
  clientOf(provider: Provider): { readonly clientId: string; readonly clientSecret: string };
}

const FOLDER = fileURLToPath(new URL('./catalogue/', import.meta.url));

/**
 * Reads the providers, once, at start: ours, and those in the operator's own folder, which replace ours of the same
 * name.
 * @throws naming the first broken file and its errors, or a client that belongs to no provider
 */
export async function loadProviders(
  clients: ConnectionClients,
  ownFolder?: string,
): Promise<ProviderCatalogue> {
  const folders = ownFolder === undefined ? [FOLDER] : [FOLDER, ownFolder];
  const byId = new Map<string, Provider>();
  for (const provider of (await Promise.all(folders.map(readFolder))).flat()) {
    byId.set(provider.id, provider);
  }
  const providers = [...byId.values()].toSorted(
    (a, b) => a.category.localeCompare(b.category) || a.name.localeCompare(b.name),
  );
  const known = new Set(
    providers.flatMap(({ auth }) => (auth.kind === 'oauth' ? auth.client : [])),
  );
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
  return Promise.all(
    files.map(async (file) => readProvider(file, await readFile(path.join(folder, file), 'utf8'))),
  );
}

/** @throws naming the file and its errors */
export function readProvider(file: string, text: string): Provider {
  const id = file.replace(/\.yaml$/, '');
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id) || id === TOOL_SERVER) {
    throw new Error(`provider ${file}: the file name must be a free kebab-case name`);
  }
  const parsed = providerFile.safeParse(parseYaml(text));
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path: at, message }) => `${at.join('.')}: ${message}`,
    );
    throw new Error(`provider ${file}: ${faults.join('; ')}`);
  }
  return { id, ...parsed.data };
}
