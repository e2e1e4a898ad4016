import { readFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import type { Config } from '#lib/config/index.ts';
import { NO_TRACING, type Tracing } from '#lib/tracing/index.ts';
import { traceStarts } from './tracing.ts';

export type TemporalSettings = Pick<
  Config,
  | 'TEMPORAL_ADDRESS'
  | 'TEMPORAL_NAMESPACE'
  | 'TEMPORAL_API_KEY'
  | 'TEMPORAL_TLS'
  | 'TEMPORAL_TLS_CERT_FILE'
  | 'TEMPORAL_TLS_KEY_FILE'
>;

/** Address, TLS (server-only or mutual) and API key in the form that client and worker connections share. */
export async function connectionOptions(settings: TemporalSettings) {
  const certificate = settings.TEMPORAL_TLS_CERT_FILE;
  const key = settings.TEMPORAL_TLS_KEY_FILE;
  const mutual =
    certificate === undefined || key === undefined
      ? undefined
      : { clientCertPair: { crt: await readFile(certificate), key: await readFile(key) } };
  const apiKey = settings.TEMPORAL_API_KEY;
  return {
    address: settings.TEMPORAL_ADDRESS,
    // An API key travels in a header, so it implies TLS.
    tls: mutual ?? (settings.TEMPORAL_TLS || apiKey !== undefined),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** A client that connects on first use, so that the API starts and serves while Temporal is away. */
export async function openTemporal(
  settings: TemporalSettings,
  tracing: Tracing = NO_TRACING,
): Promise<Client> {
  const connection = Connection.lazy({
    ...(await connectionOptions(settings)),
    // By default the pauses between attempts grow to two minutes: long after the server is back.
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 500,
      'grpc.max_reconnect_backoff_ms': 3_000,
    },
  });
  return new Client({
    connection,
    namespace: settings.TEMPORAL_NAMESPACE,
    interceptors: { workflow: tracing.enabled ? [traceStarts(tracing)] : [] },
  });
}
