import { Context } from '@temporalio/activity';
import {
  dispatchQueuedRuns,
  tick,
  type TickDeps,
  type TickReport,
} from '#core/scheduling/index.ts';
import { withHeartbeat } from './heartbeat.ts';

export interface SchedulingActivities {
  tick(): Promise<TickReport>;
  dispatch(): Promise<{ started: number; unavailable: boolean }>;
}

export function createSchedulingActivities(deps: TickDeps): SchedulingActivities {
  return {
    tick: () => withHeartbeat(() => tick(deps)),
    dispatch: () =>
      withHeartbeat(() => dispatchQueuedRuns(deps, Context.current().cancellationSignal)),
  };
}
