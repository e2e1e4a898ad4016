import { Context } from '@temporalio/activity';
import type { AdmissionReport } from '#core/execution/admission/index.ts';
import { createTickParts, type TickDeps } from '#core/scheduling/index.ts';
import { withHeartbeat } from './heartbeat.ts';

export interface SchedulingActivities {
  dispatch(): Promise<AdmissionReport>;
  claimDue(): Promise<void>;
  startDeliveries(): Promise<void>;
  expireQueued(): Promise<void>;
  sweepRuns(): Promise<void>;
  keepHouse(): Promise<void>;
  applyRetention(): Promise<void>;
  syncPayments(): Promise<void>;
  refreshCatalogues(): Promise<void>;
  sendMessages(): Promise<void>;
}

/** Creates the activities of the scheduler. Each is one part of a tick, so that no part delays the others. */
export function createSchedulingActivities(deps: TickDeps): SchedulingActivities {
  const parts = createTickParts(deps);
  return {
    dispatch: () => withHeartbeat(() => parts.admission()),
    claimDue: () => untilCancelled(async (signal) => void (await parts.claim(signal))),
    startDeliveries: () => untilCancelled(async (signal) => void (await parts.deliveries(signal))),
    expireQueued: () => untilCancelled(async (signal) => void (await parts.expire(signal))),
    sweepRuns: () => untilCancelled(async (signal) => void (await parts.sweep(signal))),
    refreshCatalogues: () => untilCancelled(async (signal) => void (await parts.catalogues(signal))),
    sendMessages: () => untilCancelled(async (signal) => void (await parts.messages(signal))),
    keepHouse: () => untilCancelled((signal) => parts.housekeeping(signal)),
    applyRetention: () => untilCancelled(async (signal) => void (await parts.retention(signal))),
    syncPayments: () => untilCancelled((signal) => parts.payments(signal)),
  };
}

/** Does the work with heartbeats, so that the signal is aborted once the attempt has timed out. */
function untilCancelled<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withHeartbeat(() => work(Context.current().cancellationSignal));
}
