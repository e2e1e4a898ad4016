/** The task queue of the bare worker; a workflow on a queue without a worker stays as it is. */
export const BARE_TASK_QUEUE = 'bare';
export const BARE_TOOLS_TASK_QUEUE = 'bare-tools';
export const UNSERVED_TASK_QUEUE = 'unserved';
