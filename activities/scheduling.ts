import { Context } from '@temporalio/activity';
import {
  dispatchQueuedRuns,
  tick,
  type TickDeps,
  type TickReport,
} from '#core/scheduling/index.ts';
import { withHeartbeat } from './heartbeat.ts';

/** The next tick goes on with what is left, so this only bounds how long one activity, and its worker, is busy. */
const DISPATCH_MS = 5 * 60_000;

export interface SchedulingActivities {
  tick(): Promise<TickReport>;
  dispatch(): Promise<{ started: number; unavailable: boolean }>;
}

export function createSchedulingActivities(deps: TickDeps): SchedulingActivities {
  return {
    tick: () => withHeartbeat(() => tick(deps)),
    dispatch: () => {
      const { cancellationSignal } = Context.current();
      const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(DISPATCH_MS)]);
      return withHeartbeat(() => dispatchQueuedRuns(deps, signal));
    },
  };
}
