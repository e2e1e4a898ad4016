import { countByAddress } from './address-windows.ts';

/** Returns what keeps this process from working, as `look` finds it or as it was found a moment ago. */
export type Readiness = (address: string, look: () => Promise<string[]>) => Promise<string[]>;

/** Checks a minute that one address can cause, far above what an orchestrator and its load balancers ask. */
const LOOKS_PER_MINUTE = 120;
/** Age up to which a probe's response is served again, for probes that come every five seconds. */
const GOOD_FOR_MS = 5_000;

/**
 * Limits the looks that one address can cause, since anybody may ask whether the service is ready. Beyond the limit it
 * gets what was found last, at most five seconds ago, and no error: an orchestrator may share the address of whoever
 * asks too often, and would take the process out of service.
 */
export function limitLooks(now = () => performance.now()): Readiness {
  const looks = countByAddress(LOOKS_PER_MINUTE, now);
  let last: { readonly found: string[]; readonly goodUntil: number } | undefined;
  return async (address, look) => {
    if (looks.isFull(address) && last !== undefined && now() < last.goodUntil) return last.found;
    looks.count(address);
    const found = await look();
    last = { found, goodUntil: now() + GOOD_FOR_MS };
    return found;
  };
}
