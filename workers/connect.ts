import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, TransportError } from '@temporalio/worker';
import type { Log } from '#lib/log.ts';
import { connectionOptions, dropDetail, type TemporalSettings } from '#lib/temporal/index.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Connects to Temporal, again and again while it cannot be reached: after a power cut everything starts at once, and
 * a worker that gave up would have to be started by hand.
 * @returns undefined when `signal` was aborted first
 * @throws whatever is not for time to mend: a certificate file that is missing, a refused API key
 */
export async function connectWorker(
  settings: TemporalSettings,
  log: Log,
  signal: AbortSignal,
): Promise<NativeConnection | undefined> {
  const options = await connectionOptions(settings);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const connection = await NativeConnection.connect(options);
      dropDetail(log);
      return connection;
    } catch (err) {
      if (!(err instanceof TransportError)) throw err;
      const { TEMPORAL_ADDRESS: address } = settings;
      log.warn({ err, address, retryInMs: pauseMs }, 'Temporal cannot be reached');
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
  }
}
