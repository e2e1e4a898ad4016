import { Runtime, type Logger } from '@temporalio/worker';
import type { ConfigOf } from '#lib/config/index.ts';
import type { Log } from '#lib/log.ts';

/**
 * Prepares the one Temporal runtime of this process: its log goes to ours, its signals stop all workers, and where a
 * port is configured it serves its own metrics (slots, pollers, sticky cache, latencies) there, beside ours.
 */
export function installRuntime(config: ConfigOf<'worker'>, log: Log): void {
  const { METRICS_HOST: host, TEMPORAL_METRICS_PORT: port } = config;
  const bindAddress = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  Runtime.install({
    logger: temporalLogger(log),
    shutdownSignals: ['SIGINT', 'SIGTERM'],
    telemetryOptions: {
      // Otherwise the native half writes to standard error, past the log and in a format of its own.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(port === undefined ? {} : { metrics: { prometheus: { bindAddress } } }),
    },
  });
  if (!log.isLevelEnabled('debug')) dropDetail(Runtime.instance().logger);
}

/**
 * To put lines of both halves in order the runtime keeps each for a tenth of a second, details with whole workflow
 * activations in them too, and asks for its level only then. Dropped here they cost nothing.
 */
function dropDetail(logger: Logger): void {
  logger.trace = () => undefined;
  logger.debug = () => undefined;
}

/** Temporal's ordinary news is detail to us. An error among it goes through our serializer, which drops what it quotes. */
function temporalLogger(log: Log) {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta: Readonly<Record<string, unknown>> = {}) => {
      // Whoever holds an activity's token and reaches Temporal may answer in its place.
      const { error, taskToken: _token, ...temporal } = meta;
      log[level]({ ...(error === undefined ? {} : { err: error }), temporal }, message);
    };
  const levels = {
    trace: write('debug'),
    debug: write('debug'),
    info: write('debug'),
    warn: write('warn'),
    error: write('error'),
  };
  return {
    ...levels,
    log: (level: string, message: string, meta?: Readonly<Record<string, unknown>>) =>
      (LEVELS[level] === undefined ? levels.debug : levels[LEVELS[level]])(message, meta),
  };
}

const LEVELS: Readonly<Record<string, 'warn' | 'error'>> = { WARN: 'warn', ERROR: 'error' };
