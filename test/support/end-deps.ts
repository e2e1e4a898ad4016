import type { EndDeps } from '#core/execution/runs/index.ts';
import type { Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { createMetrics } from '#lib/metrics/index.ts';

/** Makes the dependencies for the end of a run in a process that dies after its commit: no effects follow. */
export function dyingProcess(database: Database): EndDeps {
  const never = () => Promise.reject(new Error('the process is gone'));
  return {
    database,
    log: createLog({ level: 'silent', name: 'test' }),
    metrics: createMetrics().metrics,
    admission: {
      nudge: () => undefined,
      rule: {
        taskQueue: 'test',
        planRule: { billingConfigured: false, defaultPlan: 'scale', runsAtATime: undefined },
        runsAtATimeOfAccounts: {},
      },
    },
    work: { nudge: () => undefined, idle: () => Promise.resolve() },
    engine: {
      startRun: never,
      startDelivery: never,
      startAction: never,
      cancelRun: never,
      terminateRun: never,
      workflowState: never,
      buildOf: never,
      isHealthy: () => Promise.resolve(false),
    },
  };
}
