import { LRUCache } from 'lru-cache';

/** Counts events by the address they come from, in the memory of this process. */
export interface AddressWindows {
  count(address: string): void;
  /** Tells whether as many have been counted in the address's minute as there may be. */
  isFull(address: string): boolean;
  /** Returns the seconds until the address's minute is over, at least one. */
  secondsLeft(address: string): number;
}

/** A minute that begins with the first event. */
interface Window {
  readonly events: number;
  readonly endsAt: number;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 100_000;

export function countByAddress(limit: number, now = () => performance.now()): AddressWindows {
  const windows = new LRUCache<string, Window>({ max: MAX_ADDRESSES });

  function windowOf(address: string): Window | undefined {
    const found = windows.get(address);
    return found !== undefined && found.endsAt > now() ? found : undefined;
  }

  return {
    count(address) {
      const { events, endsAt } = windowOf(address) ?? { events: 0, endsAt: now() + WINDOW_MS };
      windows.set(address, { events: events + 1, endsAt });
    },
    isFull: (address) => (windowOf(address)?.events ?? 0) >= limit,
    secondsLeft: (address) =>
      Math.max(Math.ceil(((windowOf(address)?.endsAt ?? 0) - now()) / 1_000), 1),
  };
}
