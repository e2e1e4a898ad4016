export const DEFAULT_TASK_QUEUE = 'routines';

/**
 * Names the queue of webhook attempts. The queue has separate slots, so that slow receivers cannot take the slots of
 * model steps.
 */
export function webhookTaskQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** Names the queue of ticks, so that the schedule runs on time even if many model steps are open. */
export function schedulerTaskQueue(taskQueue: string): string {
  return `${taskQueue}-scheduler`;
}
