import { Client } from '@temporalio/client';
import { NO_TRACING, type Tracing } from '#lib/tracing/index.ts';
import { connectionOptions, type TemporalSettings } from './connection-options.ts';
import { LazyConnection } from './lazy-connection.ts';
import { traceStarts } from './tracing.ts';

/** Opens a client that connects on first use, so that the API starts and serves while Temporal is away. */
export async function openTemporal(
  settings: TemporalSettings,
  tracing: Tracing = NO_TRACING,
): Promise<Client> {
  const connection = new LazyConnection(await connectionOptions(settings));
  return new Client({
    connection,
    namespace: settings.TEMPORAL_NAMESPACE,
    interceptors: { workflow: tracing.enabled ? [traceStarts(tracing)] : [] },
  });
}
