import type { PlanRule } from '#core/billing/index.ts';
import {
  createConnectionSecrets,
  createCredentialSource,
  createOAuthSource,
  loadProviders,
} from '#core/connections/index.ts';
import type { DeletionDeps } from '#core/deletion/index.ts';
import { createEngine } from '#core/engine/index.ts';
import type { MembershipEnded } from '#core/identity/index.ts';
import { createToolSessions } from '#core/mcp/index.ts';
import { createModelDirectory, providerSwitch } from '#core/models/index.ts';
import { observeModelCalls, watchBacklog, watchPool } from '#core/observability/index.ts';
import { createRoutineEditor, createSealedWebhookSecrets } from '#core/routines/index.ts';
import {
  createAdmission,
  createModelCaller,
  createQueuedRuns,
  createRunFeed,
} from '#core/runs/index.ts';
import { loadCatalogue } from '#core/skills/index.ts';
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
  const toolSessions = createToolSessions({ outbound });
  const gateway = { baseUrl: config.GATEWAY_BASE_URL, apiKey: config.GATEWAY_API_KEY };
  const caller = observeModelCalls(
    createModelCaller({ ...gateway, timeoutMs: config.MODEL_STEP_TIMEOUT_SECONDS * 1_000 }),
    { metrics, tracing },
  );
  const engine = createEngine(temporal, config.TEMPORAL_TASK_QUEUE);
  const planRule: PlanRule = {
    billingConfigured: BILLING_VARIABLES.every((name) => config[name] !== undefined),
    defaultPlan: config.BILLING_DEFAULT_PLAN,
    runsAtATime: config.RUNS_AT_A_TIME_PER_ORGANIZATION,
  };
  const admission = createAdmission({
    database,
    engine,
    rule: { taskQueue: config.TEMPORAL_TASK_QUEUE, planRule },
    log,
  });
  const queuedRuns = createQueuedRuns({ metrics, admission });
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
    engine,
    admission,
    runFeed: createRunFeed(database, log),
    connectionSecrets,
    credentials,
    toolSessions,
    providers,
    queuedRuns,
    routineEditor: createRoutineEditor(queuedRuns),
    webhookSecrets: createSealedWebhookSecrets(secrets),
    providerEnabled: providerSwitch(config),
    planRule,
    auditRetentionDays: config.AUDIT_RETENTION_DAYS,
    // Called in the transaction that ends a membership or deletes a project, for subjects that identity knows nothing of.
    membershipEnded: noFurtherWork satisfies MembershipEnded,
    projectDeleted: noFurtherWork satisfies DeletionDeps['projectDeleted'],
    maxCostUsdPerOrganization: config.MAX_COST_USD_PER_ORGANIZATION,
  };
  return {
    deps,
    temporal,
    registry,
    async close() {
      deps.runFeed.close();
      await deps.admission.settled();
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

async function noFurtherWork(): Promise<void> {}
