/** The task queue of an installation that names none. */
export const DEFAULT_TASK_QUEUE = 'routines';

/**
 * Names the queue of webhook attempts, which has its own concurrency, so that receivers which hang cannot take the
 * slots of model steps.
 */
export function webhookTaskQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** Names the queue of ticks, so that the schedule is kept however many model steps are under way. */
export function schedulerTaskQueue(taskQueue: string): string {
  return `${taskQueue}-scheduler`;
}
