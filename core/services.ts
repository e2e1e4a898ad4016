import { createPayment, type PlanRule } from '#core/accounts/billing/index.ts';
import {
  createConnectionSecrets,
  createCredentialSource,
  createOAuthSource,
  loadProviders,
} from '#core/integrations/connections/index.ts';
import { createEngine } from '#core/foundation/engine/index.ts';
import { createToolSessions } from '#core/clients/mcp/index.ts';
import { createModelCredentials, createServerDirectory } from '#core/models/connections/index.ts';
import { loadModelProviders, openModelRuntime } from '#core/models/providers/index.ts';
import { createNudges, doNow, kindsOf } from '#core/scheduling/index.ts';
import { notifyPaused } from '#core/delivery/notifications/index.ts';
import { giveUpDeliveries } from '#core/delivery/webhooks/index.ts';
import { createAccountMails, createUnsubscribeLinks } from '#core/foundation/outbox/index.ts';
import {
  createAbilityStore,
  createFigureStore,
  createKnownNames,
  createModelDirectory,
  createProjectModels,
  providerSwitch,
} from '#core/models/directory/index.ts';
import { observeModelCalls, watchBacklog, watchFeed, watchPool } from '#core/upkeep/observability/index.ts';
import { createSealedWebhookSecrets, takeNewTools } from '#core/authoring/routines/index.ts';
import { chooseCaller, createAccountCaller, createModelCaller } from '#core/execution/steps/index.ts';
import { closeArchived, closeWithTools } from '#core/execution/actions/index.ts';
import { createAdmission, type Admission } from '#core/execution/admission/index.ts';
import { closeQuestions } from '#core/execution/questions/index.ts';
import { createLiveTexts, createRunFeed } from '#core/execution/run-events/index.ts';
import { proofs, followPauses, skipQueued, type EndDeps } from '#core/execution/runs/index.ts';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { loadBlueprints } from '#core/authoring/drafts/index.ts';
import type { ConfigOf } from '#lib/config/index.ts';
import { keepClock, openDatabase } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { openMailer } from '#lib/mail.ts';
import { createMetrics } from '#lib/metrics/index.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import { openTemporal } from '#lib/temporal/index.ts';
import { openTracing } from '#lib/tracing.ts';
import type { Core } from '#core/core.ts';
import { createEmit, type Handlers } from '#core/events.ts';

/** The core and the parts that its subjects make. API and workers are built from these parts. */
export type Services = Readonly<Awaited<ReturnType<typeof openServices>>['deps']>;

/** Opens the parts that API and worker have in common, from the configuration they share. */
export async function openServices(config: ConfigOf<'worker'>, log: Log, service = 'ras') {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'ras',
    onError: (err) => log.warn({ err }, 'an idle database connection was lost'),
  });
  const clock = await keepClock(database, log);
  const { metrics, registry } = createMetrics();
  watchPool(registry, database);
  const retention = { contentDays: config.RUN_CONTENT_DAYS, runDays: config.RUN_DAYS };
  const tracing = await openTracing({ endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT, service });
  const temporal = await openTemporal(config, tracing);
  const { SMTP_URL: url, MAIL_FROM: from } = config;
  const mailer =
    url === undefined || from === undefined
      ? undefined
      : openMailer({ url, from, requireTls: config.SMTP_TLS_REQUIRED });
  const secrets = createSecretBox({ current: config.ENCRYPTION_KEY, previous: config.ENCRYPTION_KEY_PREVIOUS });
  const core: Core = {
    database,
    emit: createEmit(() => handlers),
    engine: createEngine(temporal, config.TEMPORAL_TASK_QUEUE),
    outbound: createOutboundClient({ allowPrivateNetwork: config.ALLOW_PRIVATE_NETWORK }),
    secrets,
    mailer,
    log,
    metrics,
    tracing,
    work: createNudges(log, (name) => doNow(deps, name)),
    buildId: config.WORKER_BUILD_ID,
    uiOrigin: config.UI_ORIGIN,
    leadsEmail: config.LEADS_EMAIL,
    auditRetentionDays: config.AUDIT_RETENTION_DAYS,
    maxCostUsdPerOrganization: config.MAX_COST_USD_PER_ORGANIZATION,
    providerEnabled: providerSwitch(config),
  };
  const { outbound } = core;
  const accountMails = mailer && createAccountMails(core);
  const connectionSecrets = createConnectionSecrets(secrets);
  const providers = await loadProviders(config.CONNECTION_CLIENTS, config.CONNECTION_PROVIDERS_DIR);
  const credentials = createCredentialSource(
    { database, connectionSecrets },
    { oauth: createOAuthSource({ ...core, connectionSecrets, providers }) },
  );
  const modelProviders = loadModelProviders(config);
  const modelRuntime = openModelRuntime(config, database, service);
  const findModelServer = createServerDirectory(outbound);
  const modelCredentials = createModelCredentials({ ...core, modelProviders, findModelServer });
  const toolSessions = createToolSessions(core);
  const abilities = createAbilityStore(core);
  const timeoutMs = config.MODEL_STEP_TIMEOUT_SECONDS * 1_000;
  const caller = observeModelCalls(
    chooseCaller({
      gateway: createModelCaller({
        sources: config.MODEL_SOURCES,
        abilities,
        timeoutMs,
        silenceMs: config.MODEL_SILENCE_SECONDS * 1_000,
      }),
      accounts: createAccountCaller({ ...core, modelProviders, modelRuntime, modelCredentials, timeoutMs }),
    }),
    core,
  );
  const payment = createPayment(config, { log, metrics });
  const planRule: PlanRule = {
    billingConfigured: payment.processor !== undefined,
    defaultPlan: config.BILLING_DEFAULT_PLAN,
    runsAtATime: config.RUNS_AT_A_TIME_PER_ORGANIZATION,
  };
  const admission = createAdmission({
    ...core,
    rule: {
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      planRule,
      runsAtATimeOfAccounts: Object.fromEntries(
        modelProviders.enabled.map(({ slot, file }) => [slot, file.concurrency]),
      ),
    },
  });
  const skills = await loadCatalogue();
  const figures = createFigureStore(database, config.MAX_COST_USD_PER_ORGANIZATION === undefined);
  const handlers = handlersOf({ ...core, admission });
  const deps = {
    ...core,
    accountMails,
    caller,
    models: createProjectModels({
      database,
      modelProviders,
      directory: createModelDirectory({
        sources: config.MODEL_SOURCES,
        abilities,
        names: createKnownNames(database, config.MODEL_SOURCES),
        log,
        showAddresses: config.NODE_ENV !== 'production',
      }),
      figures,
    }),
    abilities,
    figures,
    skills,
    blueprints: await loadBlueprints(skills),
    admission,
    runFeed: createRunFeed({
      database,
      limits: {
        perCredential: config.EVENT_STREAMS_PER_CREDENTIAL,
        perOrganization: config.EVENT_STREAMS_PER_ORGANIZATION,
        perProcess: config.EVENT_STREAMS_PER_PROCESS,
      },
      log,
    }),
    liveTexts: createLiveTexts(core),
    connectionSecrets,
    credentials,
    toolSessions,
    providers,
    modelProviders,
    modelRuntime,
    modelCredentials,
    findModelServer,
    webhookSecrets: createSealedWebhookSecrets(secrets),
    planRule,
    retention,
    payment,
    unsubscribeLinks: createUnsubscribeLinks({
      publicUrl: config.PUBLIC_URL,
      keys: [config.ENCRYPTION_KEY, config.ENCRYPTION_KEY_PREVIOUS ?? []].flat(),
    }),
  };
  watchFeed(registry, deps.runFeed);
  watchBacklog(registry, database, { retention, kinds: Object.keys(kindsOf(deps)) });
  return {
    deps,
    temporal,
    registry,
    async close() {
      clock.stop();
      deps.runFeed.close();
      await deps.runFeed.idle();
      await deps.liveTexts.close();
      await deps.admission.idle();
      await deps.work.idle();
      mailer?.close();
      // Close the sessions before the client that they use.
      await toolSessions.close();
      await Promise.allSettled([
        temporal.connection.close(),
        outbound.close(),
        caller.close(),
        modelRuntime?.close(),
        database.end(),
        tracing.close(),
      ]);
    },
  };
}

/**
 * Lists the handlers of each event of `core/events.ts`, in the order of their calls. They run in the transaction that
 * emits the event.
 */
function handlersOf(core: EndDeps & Pick<Core, 'emit' | 'uiOrigin'> & { readonly admission: Admission }): Handlers {
  return {
    'routine.changed': [
      (tx, { routineIds }) => skipQueued(core, tx, { routineIds, reason: 'superseded' }),
      (tx, { routineIds }) => closeWithTools(core, tx, routineIds),
    ],
    'proposal.dropped': [(tx, dropped) => proofs.cancelProofs(core, tx, dropped)],
    'proposal.taken': [proofs.adoptProof],
    'routine.paused': [(tx, { routineIds }) => skipQueued(core, tx, { routineIds, reason: 'paused' })],
    'routine.archived': [
      (tx, { routineIds }) => skipQueued(core, tx, { routineIds, reason: 'archived' }),
      (tx, { routineIds }) => giveUpDeliveries(tx, routineIds),
      (tx, { routineIds }) => closeArchived(core, tx, routineIds),
      (tx, { routineIds }) => closeQuestions(tx, routineIds),
    ],
    'routine.paused_by_service': [
      (tx, { paused }) => followPauses(core, tx, paused),
      (tx, { paused }) => notifyPaused(tx, paused),
    ],
    'tools.changed': [(tx, changed) => takeNewTools(core, tx, changed)],
  };
}
