import { Context } from '@temporalio/activity';
import { sendAction, type SendDeps, type SendOutcome } from '#core/execution/actions/index.ts';
import { withHeartbeat } from './heartbeat.ts';

export interface ActionActivities {
  /** Sends an approved action, unless another workflow has it by now. */
  sendAction(input: { actionId: string; attempt: number }): Promise<SendOutcome>;
}

/** Creates the activity of approved actions, which is served from the webhook task queue. */
export function createActionActivities(deps: SendDeps): ActionActivities {
  return {
    sendAction: ({ actionId: id, attempt }) =>
      withHeartbeat(() => sendAction(deps, { id, attempt }, Context.current().cancellationSignal)),
  };
}
