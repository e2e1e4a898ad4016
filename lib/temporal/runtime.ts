// By their paths, as in `connection.ts`.
import type { Logger } from '@temporalio/worker/lib/logger.js';
import { Runtime } from '@temporalio/worker/lib/runtime.js';
import type { Log } from '../log.ts';

/**
 * Prepares the one native runtime of this process: its log goes to ours, these signals stop all workers, and at this
 * address it serves its own metrics (slots, pollers, sticky cache, latencies).
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
      // Otherwise the native half writes to standard error, past the log and in a format of its own.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsAddress === undefined ? {} : { metrics: { prometheus: { bindAddress: metricsAddress } } }),
    },
  });
}

/**
 * Drops lines below the log's level before they are kept. To order the lines of both its halves, the runtime keeps each
 * for a tenth of a second, debug lines with whole workflow activations included, and checks the level only then. Call
 * it while a connection is open: without one the runtime may be made again, without this.
 */
export function dropDetail(log: Log): void {
  if (log.isLevelEnabled('debug')) return;
  const { logger }: { logger: Logger } = Runtime.instance();
  logger.trace = () => undefined;
  logger.debug = () => undefined;
}

/**
 * Temporal's ordinary news is detail to us. An error among it goes through our serializer, which drops what it quotes.
 */
function temporalLogger(log: Log) {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta: Readonly<Record<string, unknown>> = {}) => {
      // Who holds an activity's token and reaches Temporal could answer in its place.
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
