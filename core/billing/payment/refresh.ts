import { setTimeout as sleep } from 'node:timers/promises';
import { throttle, type ThrottleRule } from '#core/identity/index.ts';
import { requestSync } from './customers.ts';
import { syncOrganization, type SyncDeps } from './sync.ts';

/** A page that waits for a payment asks every two seconds or so. */
const REFRESHES: ThrottleRule = { name: 'billing-refresh', limit: 60, windowSeconds: 60 };

/**
 * Asks the processor on behalf of a person who waits for the result, for at most `ms`. Beyond a limit it does nothing,
 * so that no member can use up the requests that the processor allows to everybody.
 */
export async function refreshWithin(
  deps: SyncDeps,
  organizationId: string,
  ms: number,
): Promise<void> {
  if ((await throttle(deps.database, REFRESHES, organizationId)) !== undefined) return;
  await requestSync(deps.database, organizationId);
  await syncWithin(deps, organizationId, ms);
}

/** Waits for a sync for at most `ms`; one that takes longer goes on, and one that fails is tried again later. */
export async function syncWithin(
  deps: SyncDeps,
  organizationId: string,
  ms: number,
): Promise<void> {
  const controller = new AbortController();
  const sync = syncOrganization(deps, organizationId).catch((err: unknown) =>
    deps.watch.log.warn({ err, organizationId }, 'a sync with the payment processor failed'),
  );
  const timeout = sleep(ms, undefined, { signal: controller.signal }).catch(() => undefined);
  await Promise.race([sync, timeout]);
  controller.abort();
}
