import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { ClaimedMessage } from './claim.ts';
import type { Verdict } from './record.ts';
import { isBeyondLast, retryDelayMs } from './retry.ts';

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16 * 1024;

/** Makes one GET to a monitor. Only 2xx is success; a redirect is not followed. */
export async function sendPing(
  { outbound }: { readonly outbound: Pick<OutboundClient, 'request'> },
  message: ClaimedMessage,
  signal: AbortSignal,
): Promise<Verdict> {
  const { url, attempt } = message;
  if (url === null) return { state: 'failed', error: 'there is no address to ping' };
  if (isBeyondLast('ping', attempt)) {
    return { state: 'failed', error: 'all attempts were broken off on our side' };
  }
  const error = await ping(outbound, url, signal);
  if (error === undefined) return { state: 'sent' };
  const delayMs = retryDelayMs('ping', attempt);
  return delayMs === undefined ? { state: 'failed', error } : { state: 'retry', error, delayMs };
}

/** @returns the reason why it failed, if it did */
async function ping(
  outbound: Pick<OutboundClient, 'request'>,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { status } = await outbound.request({
      url,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      onOverflow: 'truncate',
      signal,
    });
    return status >= 200 && status <= 299 ? undefined : `the monitor responded with ${status}`;
  } catch (error) {
    if (error instanceof OutboundError) return error.message;
    throw error;
  }
}
