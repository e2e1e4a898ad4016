import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { renewRuntimeLease } from './lease.ts';
import type { ModelRuntime } from './runtime.ts';

export interface KeeperDeps {
  readonly database: Db;
  readonly runtime: Pick<ModelRuntime, 'client' | 'lease'>;
  readonly log: Log;
  /** Milliseconds between two renewals. By default two may fail before the lease, of 30 seconds, is over. */
  readonly everyMs?: number;
}

const RENEW_EVERY_MS = 8_000;

/**
 * Renews the lease on the runtime until `signal` aborts, on both sides: at the runtime by an envelope with its epoch,
 * then in the table. Any number of processes renew the same lease. It is left to run out, never given back, because
 * others may be using it.
 */
export async function keepRuntimeLease(deps: KeeperDeps, signal: AbortSignal): Promise<void> {
  let held = true;
  while (!signal.aborted) {
    try {
      held = await renew(deps);
      if (!held) deps.log.warn('another provider runtime answers than the one that is leased');
    } catch (err) {
      // Said once: a runtime that is away for an hour is one fact.
      if (held) deps.log.warn({ err }, 'the lease on the provider runtime was not renewed');
      held = false;
    }
    await sleep(deps.everyMs ?? RENEW_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Renews the lease once, or takes the next one where it has run out.
 * @returns false while the lease belongs to another instance than the one that responds, or its epoch is not the
 * runtime's own
 * @throws {RuntimeUnreachable} when no runtime responds
 */
async function renew({ database, runtime }: KeeperDeps): Promise<boolean> {
  const lease = await runtime.lease();
  const said = await runtime.client.hello({ epoch: lease.epoch });
  if (said.instanceId !== lease.instanceId || said.epoch !== lease.epoch) return false;
  return renewRuntimeLease(database, lease);
}
