import { readFile } from 'node:fs/promises';
import { Client } from '@temporalio/client';
import type { Config } from '#lib/config/index.ts';
import { NO_TRACING, type Tracing } from '#lib/tracing/index.ts';
import { LazyConnection } from './lazy-connection.ts';
import { traceStarts } from './tracing.ts';

export type TemporalSettings = Pick<
  Config,
  | 'TEMPORAL_ADDRESS'
  | 'TEMPORAL_NAMESPACE'
  | 'TEMPORAL_API_KEY'
  | 'TEMPORAL_TLS'
  | 'TEMPORAL_TLS_CA_FILE'
  | 'TEMPORAL_TLS_CERT_FILE'
  | 'TEMPORAL_TLS_KEY_FILE'
>;

/**
 * Address, TLS (by a public or a private authority, mutual or not) and API key, in the form that client and worker
 * connections share.
 */
export async function connectionOptions(settings: TemporalSettings) {
  const authority = settings.TEMPORAL_TLS_CA_FILE;
  const certificate = settings.TEMPORAL_TLS_CERT_FILE;
  const key = settings.TEMPORAL_TLS_KEY_FILE;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error('TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE go together');
  }
  const own = {
    ...(authority === undefined ? {} : { serverRootCACertificate: await readFile(authority) }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: await readFile(certificate), key: await readFile(key) } }),
  };
  const apiKey = settings.TEMPORAL_API_KEY;
  return {
    address: settings.TEMPORAL_ADDRESS,
    // An API key travels in a header, so it implies TLS.
    tls: Object.keys(own).length > 0 ? own : settings.TEMPORAL_TLS || apiKey !== undefined,
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** A client that connects on first use, so that the API starts and serves while Temporal is away. */
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
