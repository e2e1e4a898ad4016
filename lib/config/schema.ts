import { z } from 'zod';
import type { ConnectionClients } from './connection-clients.ts';
import type { ModelSource } from './model-sources.ts';
import { encryptionKey, file } from './values.ts';
import { variables } from './variables.ts';

export const configSchema = z.object({
  ...variables,
  /** Collected from `CONNECTION_<NAME>_CLIENT_ID` and `…_SECRET`, a pair for each provider. */
  CONNECTION_CLIENTS: z.custom<ConnectionClients>().default({}),
  /** From `GATEWAYS_FILE`, else the one of `GATEWAY_BASE_URL`. */
  MODEL_SOURCES: z.custom<readonly ModelSource[]>().default([]),
});

/** The private provider runtime: no database, no Temporal, and none of the secrets but the one it shares. */
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
