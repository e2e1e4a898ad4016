import { defineSearchAttributeKey } from '@temporalio/common';

/** Workflow types. A recorded history names them, so they never change. */
export const WORKFLOW = {
  run: 'run',
  scheduler: 'scheduler',
  webhookDelivery: 'webhookDelivery',
} as const;

/** The one scheduler of a namespace; every worker ensures it under this id. */
export const SCHEDULER_WORKFLOW_ID = 'scheduler';

/**
 * Where attempts of webhook deliveries are served, with a concurrency of their own, so that receivers which hang cannot
 * take the slots of model steps.
 */
export const webhookTaskQueue = (taskQueue: string): string => `${taskQueue}-webhooks`;

/** Where ticks are served, so that the schedule is kept however many model steps are under way. */
export const schedulerTaskQueue = (taskQueue: string): string => `${taskQueue}-scheduler`;

/** The header that carries a W3C `traceparent` into workflows and activities. */
export const TRACE_HEADER = 'traceparent';

/** Keywords by which runs are found in the Temporal UI. Ids only: nothing private is searchable. */
export const SEARCH_ATTRIBUTE = {
  project: defineSearchAttributeKey('RasProject', 'KEYWORD'),
  routine: defineSearchAttributeKey('RasRoutine', 'KEYWORD'),
  trigger: defineSearchAttributeKey('RasTrigger', 'KEYWORD'),
} as const;
