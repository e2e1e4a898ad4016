// Import by path, for the reason given in `connection.ts`.
import type { Logger } from '@temporalio/worker/lib/logger.js';
import { Runtime } from '@temporalio/worker/lib/runtime.js';
import type { Log } from '../log.ts';

/**
 * Prepares the one native runtime of this process. The runtime writes to the service's log, stops all workers at the
 * given signals, and serves its own metrics (slots, pollers, sticky cache, latencies) at the given address.
 */
export function installRuntime(
  log: Log,
  options: { shutdownSignals?: NodeJS.Signals[]; metricsAddress?: string | undefined } = {},
): void {
  const { shutdownSignals = [], metricsAddress } = options;
  Runtime.install({
    logger: temporalLogger(log),
    shutdownSignals,
    telemetryOptions: {
      // Without this setting, the native library would write to standard error in its own format.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsAddress === undefined ? {} : { metrics: { prometheus: { bindAddress: metricsAddress } } }),
    },
  });
}

/**
 * Drops lines below the log's level before they are stored. The runtime keeps each line for a tenth of a second to
 * order the lines of its two halves, including debug lines with whole workflow activations, and checks the level only
 * afterwards. Call this while a connection is open: without a connection the runtime may be made again and lose this
 * setting.
 */
export function dropDetail(log: Log): void {
  if (log.isLevelEnabled('debug')) return;
  const { logger }: { logger: Logger } = Runtime.instance();
  logger.trace = () => undefined;
  logger.debug = () => undefined;
}

/**
 * Writes Temporal's lines to the service's log, and its `info` lines as `debug`. The log's serializer drops quotations
 * in errors.
 */
function temporalLogger(log: Log) {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta: Readonly<Record<string, unknown>> = {}) => {
      // Leave out the task token: with it, a reader of the log who reaches Temporal could complete the activity.
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
