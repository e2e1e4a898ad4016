import {
  createConnectionSecrets,
  createCredentialSource,
  createOAuthSource,
  createToolSessions,
  loadProviders,
} from '#core/connections/index.ts';
import { createModelDirectory, providerSwitch } from '#core/models/index.ts';
import { observeModelCalls, watchBacklog, watchPool } from '#core/observability/index.ts';
import { createModelCaller, createRunEngine, createRunFeed } from '#core/runs/index.ts';
import { loadCatalogue } from '#core/skills/index.ts';
import { createSealedWebhookSecrets } from '#core/webhooks/index.ts';
import { BILLING_VARIABLES, type ConfigOf } from '#lib/config/index.ts';
import { openDatabase } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { createMetrics } from '#lib/metrics/index.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import { openTemporal } from '#lib/temporal/index.ts';
import { openTracing } from '#lib/tracing/index.ts';

/** The composition root of both processes: opens what API and worker have in common, from the configuration they share. */
export async function openServices(config: ConfigOf<'worker'>, log: Log, service = 'ras') {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'ras',
    onError: (err) => log.warn({ err }, 'an idle database connection was lost'),
  });
  const { metrics, registry } = createMetrics();
  watchPool(registry, database);
  watchBacklog(registry, database);
  const tracing = await openTracing({ endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT, service });
  const temporal = await openTemporal(config, tracing);
  const secrets = createSecretBox({
    current: config.ENCRYPTION_KEY,
    previous: config.ENCRYPTION_KEY_PREVIOUS,
  });
  const connectionSecrets = createConnectionSecrets(secrets);
  const outbound = createOutboundClient({ allowPrivateNetwork: config.ALLOW_PRIVATE_NETWORK });
  const providers = await loadProviders(config.CONNECTION_CLIENTS, config.CONNECTION_PROVIDERS_DIR);
  const credentials = createCredentialSource(
    { database, connectionSecrets },
    { oauth: createOAuthSource({ database, connectionSecrets, outbound, providers, log }) },
  );
  const toolSessions = createToolSessions({ outbound, credentials, connectionSecrets });
  const gateway = { baseUrl: config.GATEWAY_BASE_URL, apiKey: config.GATEWAY_API_KEY };
  const caller = observeModelCalls(
    createModelCaller({ ...gateway, timeoutMs: config.MODEL_STEP_TIMEOUT_SECONDS * 1_000 }),
    { metrics, tracing },
  );
  const deps = {
    database,
    secrets,
    outbound,
    caller,
    log,
    metrics,
    tracing,
    models: createModelDirectory({ ...gateway, log }),
    skills: await loadCatalogue(),
    engine: createRunEngine(temporal, config.TEMPORAL_TASK_QUEUE),
    runFeed: createRunFeed(database, log),
    connectionSecrets,
    credentials,
    toolSessions,
    providers,
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
    registry,
    async close() {
      deps.runFeed.close();
      // Before the client they speak through.
      await toolSessions.close();
      await Promise.allSettled([
        temporal.connection.close(),
        outbound.close(),
        caller.close(),
        database.end(),
        tracing.close(),
      ]);
    },
  };
}
