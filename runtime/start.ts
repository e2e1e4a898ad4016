import { readFileSync } from 'node:fs';
import type { ConfigOf } from '#lib/config/index.ts';
import { createStoreBox, envelopeKeys, LONELY_MS, MAX_PLAINTEXT_BYTES } from '#lib/envelope/index.ts';
import type { Log } from '#lib/log.ts';
import { serveMetrics } from '#lib/metrics/index.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { loadProviderFiles } from '#lib/provider-file/index.ts';
import { createExecutions } from './calls/executions.ts';
import { listen } from './http/listener.ts';
import { createRuntimeMetrics } from './metrics.ts';
import { checkPlaces, checkSandbox } from './sandbox/check-sandbox.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createSessions } from './sandbox/sessions.ts';
import { keepPruned } from './state/journal.ts';
import { createLease } from './state/lease.ts';
import { openState } from './state/open-state.ts';

function secretPlaces(config: ConfigOf<'runtime'>): string[] {
  return [
    config.MODEL_RUNTIME_CERT_FILE,
    config.MODEL_RUNTIME_KEY_FILE,
    config.MODEL_RUNTIME_STATE_DIR,
    config.MODEL_PROVIDER_A_FILE,
    config.MODEL_PROVIDER_B_FILE,
    config.MODEL_PROVIDER_C_FILE,
  ].filter((place) => place !== undefined);
}

export interface Runtime {
  readonly port: number;
  readonly metricsPort: number | undefined;
  readonly instanceId: string;
  /** Accepts nothing new, lets running calls end within the grace period, and closes. */
  stop(): Promise<void>;
}

const MAX_CALLS = 8;
const SESSIONS_AHEAD = 2;
const DRAIN_MS = 30_000;
const LAST_FRAMES_MS = 2_000;

/**
 * Starts the provider runtime.
 * @param options.leaseMs time for which the runtime works without another envelope; default 30 seconds
 * @throws when the state is in use, a provider file is wrong, the sandbox has gaps, or a session could read secrets
 */
export async function startRuntime(
  config: ConfigOf<'runtime'>,
  log: Log,
  options: { readonly leaseMs?: number } = {},
): Promise<Runtime> {
  if (config.MODEL_RUNTIME_SANDBOX === 'bubblewrap') checkPlaces(secretPlaces(config));
  const providers = loadProviderFiles(config);
  const tls = {
    cert: readFileSync(config.MODEL_RUNTIME_CERT_FILE, 'utf8'),
    key: readFileSync(config.MODEL_RUNTIME_KEY_FILE, 'utf8'),
  };
  const state = openState(config.MODEL_RUNTIME_STATE_DIR);
  const sandbox = createSandbox(config.MODEL_RUNTIME_SANDBOX);
  try {
    await checkSandbox(sandbox);
  } catch (error) {
    sandbox.close();
    state.close();
    throw error;
  }
  if (sandbox.kind === 'process') {
    log.warn('MODEL_RUNTIME_SANDBOX=process: model sessions are not isolated; do not use this in production');
  }
  const keys = envelopeKeys(config.MODEL_RUNTIME_SECRET);
  const client = createProviderClient({ allowPrivateNetwork: config.MODEL_PROVIDER_FAKE });
  const sessions = createSessions(sandbox, {
    ahead: SESSIONS_AHEAD,
    protocols: [...new Set([...providers.values()].map(({ file }) => file.api.protocol))],
    maxOutputBytes: MAX_PLAINTEXT_BYTES,
  });
  const lease = createLease(state.epoch, (below) => executions.fence(below), options);
  const executions = createExecutions({
    journal: state.journal,
    box: createStoreBox(keys),
    lease,
    maxAtOnce: MAX_CALLS,
    maxMs: config.MODEL_STEP_TIMEOUT_SECONDS * 1_000,
    lonelyMs: LONELY_MS,
    log,
  });
  const { metrics, registry } = createRuntimeMetrics(() => executions.count);
  let draining = false;
  const { instanceId } = state;
  const server = await listen(
    {
      keys,
      log,
      metrics,
      isDraining: () => draining,
      instanceId,
      sandbox: sandbox.kind,
      providers,
      lease,
      executions,
      sessions,
      fetch: client.fetch,
    },
    tls,
    { host: config.MODEL_RUNTIME_HOST, port: config.MODEL_RUNTIME_PORT },
  );
  const metricsServer =
    config.METRICS_PORT === undefined
      ? undefined
      : await serveMetrics(registry, { host: config.METRICS_HOST, port: config.METRICS_PORT });
  const stopPruning = keepPruned(state.journal, log);
  return {
    port: server.port,
    metricsPort: metricsServer?.port,
    instanceId,
    async stop() {
      draining = true;
      const closed = server.close();
      await executions.drain(DRAIN_MS);
      // Cut off a silent caller while the last frames are sent: it would keep the process open for ever.
      const cut = setTimeout(() => server.cut(), LAST_FRAMES_MS);
      await closed;
      clearTimeout(cut);
      stopPruning();
      lease.close();
      await sessions.close();
      await client.close();
      await metricsServer?.close();
      sandbox.close();
      state.close();
    },
  };
}

/** Timeouts of the connection and of the first byte. A model that reasons for long sends its first byte earlier. */
const CONNECT_MS = 10_000;
const FIRST_BYTE_MS = 120_000;
/** The most bytes of a response: a hundred thousand tokens, each in a separate event. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

export interface ProviderClient {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * Creates the guarded client for the hosts that provider files name: https to public addresses, one attempt, no
 * redirects.
 * @param allowPrivateNetwork allows http and this machine, for fixture providers
 */
function createProviderClient({ allowPrivateNetwork }: { readonly allowPrivateNetwork: boolean }): ProviderClient {
  const client = createOutboundClient({
    allowPrivateNetwork,
    connectTimeoutMs: CONNECT_MS,
    headersTimeoutMs: FIRST_BYTE_MS,
    idleTimeoutMs: FIRST_BYTE_MS,
  });
  return {
    fetch: client.fetchWithin({ maxResponseBytes: MAX_RESPONSE_BYTES }),
    close: () => client.close(),
  };
}
