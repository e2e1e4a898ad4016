import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';

/** Tells whether a person may be sent to a page that a provider names: only to where we would go ourselves. */
export function mayBeSentTo(outbound: Pick<OutboundClient, 'checkUrl'>, url: string): boolean {
  try {
    outbound.checkUrl(url);
    return true;
  } catch (error) {
    if (error instanceof OutboundError) return false;
    throw error;
  }
}
