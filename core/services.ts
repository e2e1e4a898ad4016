import { createModelDirectory, providerSwitch } from '#core/models/index.ts';
import { createModelCaller, createRunEngine } from '#core/runs/index.ts';
import { loadCatalogue } from '#core/skills/index.ts';
import { createSealedWebhookSecrets } from '#core/webhooks/index.ts';
import { BILLING_VARIABLES, type ConfigOf } from '#lib/config/index.ts';
import { openDatabase } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import { openTemporal } from '#lib/temporal/index.ts';

/** The composition root of both processes: opens what API and worker have in common, from the configuration they share. */
export async function openServices(config: ConfigOf<'worker'>, log: Log) {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'ras',
    onError: (err) => log.warn({ err }, 'an idle database connection was lost'),
  });
  const temporal = await openTemporal(config);
  const secrets = createSecretBox({
    current: config.ENCRYPTION_KEY,
    previous: config.ENCRYPTION_KEY_PREVIOUS,
  });
  const outbound = createOutboundClient({ allowPrivateNetwork: config.ALLOW_PRIVATE_NETWORK });
  const gateway = { baseUrl: config.GATEWAY_BASE_URL, apiKey: config.GATEWAY_API_KEY };
  const caller = createModelCaller({
    ...gateway,
    timeoutMs: config.MODEL_STEP_TIMEOUT_SECONDS * 1_000,
  });
  const deps = {
    database,
    secrets,
    outbound,
    caller,
    log,
    models: createModelDirectory({ ...gateway, log }),
    skills: await loadCatalogue(),
    engine: createRunEngine(temporal, config.TEMPORAL_TASK_QUEUE),
    webhookSecrets: createSealedWebhookSecrets(secrets),
    providerEnabled: providerSwitch(config),
    planRule: {
      billingConfigured: BILLING_VARIABLES.every((name) => config[name] !== undefined),
      defaultPlan: config.BILLING_DEFAULT_PLAN,
    },
  };
  return {
    deps,
    temporal,
    async close() {
      await Promise.allSettled([
        temporal.connection.close(),
        outbound.close(),
        caller.close(),
        database.end(),
      ]);
    },
  };
}
