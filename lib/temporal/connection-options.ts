import { readFile } from 'node:fs/promises';
import type { Config } from '#lib/config/index.ts';

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

export type ConnectionOptions = Awaited<ReturnType<typeof connectionOptions>>;

/**
 * Reads address, TLS (by a public or a private authority, mutual or not) and API key into the form that client and
 * worker connections share.
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
