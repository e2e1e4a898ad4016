import { createOutboundClient } from '#lib/outbound/index.ts';

/** Time to connect, and to the first byte: a model that reasons for long begins its response before. */
const CONNECT_MS = 10_000;
const FIRST_BYTE_MS = 120_000;
/** Limit of a response: a hundred thousand tokens, each in an event of its own. */
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
export function createProviderClient({
  allowPrivateNetwork,
}: {
  readonly allowPrivateNetwork: boolean;
}): ProviderClient {
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
