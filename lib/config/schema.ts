import { z } from 'zod';
import type { ModelSource } from './model-sources.ts';
import { encryptionKey, file } from './values.ts';
import { variables } from './variables.ts';

export const configSchema = z.object({
  ...variables,
  /** Collected from `CONNECTION_<NAME>_CLIENT_ID` and `…_SECRET`, a pair for each provider. */
  CONNECTION_CLIENTS: z.custom<ConnectionClients>().default({}),
  /** The sources of `GATEWAYS_FILE`, else the source of `GATEWAY_BASE_URL`. */
  MODEL_SOURCES: z.custom<readonly ModelSource[]>().default([]),
});

/** Settings of the private provider runtime: no database, no Temporal, `MODEL_RUNTIME_SECRET` as the only secret. */
export const runtimeSchema = configSchema
  .pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    METRICS_PORT: true,
    METRICS_HOST: true,
    MODEL_STEP_TIMEOUT_SECONDS: true,
    MODEL_PROVIDER_A_ENABLED: true,
    MODEL_PROVIDER_A_FILE: true,
    MODEL_PROVIDER_A_TERMS_ACCEPTED: true,
    MODEL_PROVIDER_B_ENABLED: true,
    MODEL_PROVIDER_B_FILE: true,
    MODEL_PROVIDER_B_TERMS_ACCEPTED: true,
    MODEL_PROVIDER_C_ENABLED: true,
    MODEL_PROVIDER_C_FILE: true,
    MODEL_PROVIDER_C_TERMS_ACCEPTED: true,
    MODEL_PROVIDER_FAKE: true,
    MODEL_RUNTIME_HOST: true,
    MODEL_RUNTIME_PORT: true,
    MODEL_RUNTIME_SANDBOX: true,
  })
  .extend({
    MODEL_RUNTIME_SECRET: encryptionKey,
    MODEL_RUNTIME_CERT_FILE: file('PEM certificate'),
    MODEL_RUNTIME_KEY_FILE: file('PEM key'),
    MODEL_RUNTIME_STATE_DIR: file('folder that only the runtime can read'),
  });

export type Config = z.output<typeof configSchema>;

/** Clients that the operator registered with providers of connections, by the name in their variables. */
export type ConnectionClients = Readonly<Record<string, { readonly clientId: string; readonly clientSecret: string }>>;

const VARIABLE = /^CONNECTION_([A-Z][A-Z0-9_]*)_CLIENT_(ID|SECRET)$/;

/**
 * Collects `CONNECTION_<NAME>_CLIENT_ID` with its `…_CLIENT_SECRET`. The providers decide which names are valid, so
 * that a new provider needs no change here.
 */
export function readConnectionClients(environment: Partial<Record<string, string>>): {
  clients: ConnectionClients;
  faults: string[];
} {
  const names = Object.keys(environment).map((variable) => VARIABLE.exec(variable)?.[1]);
  const clients: Record<string, { clientId: string; clientSecret: string }> = {};
  const faults: string[] = [];
  for (const name of new Set(names)) {
    if (name === undefined) continue;
    const [id, secret] = [`CONNECTION_${name}_CLIENT_ID`, `CONNECTION_${name}_CLIENT_SECRET`];
    const [clientId, clientSecret] = [environment[id], environment[secret]];
    if (clientId === undefined) faults.push(`${id}: required, as ${secret} is set`);
    else if (clientSecret === undefined) faults.push(`${secret}: required, as ${id} is set`);
    else clients[name] = { clientId, clientSecret };
  }
  return { clients, faults };
}
