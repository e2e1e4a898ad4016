import { defineSearchAttributeKey } from '@temporalio/common';
import { DEFAULT_TASK_QUEUE } from '#lib/task-queues.ts';

/** Workflow types. A recorded history names them, so they never change. */
export const WORKFLOW = {
  run: 'run',
  scheduler: 'scheduler',
  webhookDelivery: 'webhookDelivery',
  heldAction: 'heldAction',
} as const;

/** Id of the scheduler of the default task queue. */
export const SCHEDULER_WORKFLOW_ID = 'scheduler';

/** Returns the id of a task queue's only scheduler, which every worker of the queue starts if it does not run. */
export function schedulerWorkflowId(taskQueue: string): string {
  return taskQueue === DEFAULT_TASK_QUEUE ? SCHEDULER_WORKFLOW_ID : `${SCHEDULER_WORKFLOW_ID}:${taskQueue}`;
}

/** The header that carries a W3C `traceparent` into workflows and activities. */
export const TRACE_HEADER = 'traceparent';

/** Keywords for finding runs in the Temporal UI. Ids only: nothing private is searchable. */
export const SEARCH_ATTRIBUTE = {
  project: defineSearchAttributeKey('RasProject', 'KEYWORD'),
  routine: defineSearchAttributeKey('RasRoutine', 'KEYWORD'),
  trigger: defineSearchAttributeKey('RasTrigger', 'KEYWORD'),
} as const;
