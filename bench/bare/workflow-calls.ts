import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { BARE_TASK_QUEUE, BARE_TOOLS_TASK_QUEUE, UNSERVED_TASK_QUEUE } from './names.ts';

/** Starts a workflow with one empty activity and waits for its result. */
export async function runBareWorkflow(client: Client): Promise<void> {
  await client.workflow.execute('oneActivity', {
    taskQueue: BARE_TASK_QUEUE,
    workflowId: randomUUID(),
    args: [],
  });
}

/** Starts a workflow that calls a model, these tools, and the model, and waits for its result. */
export async function runBareToolCalls(client: Client, names: readonly string[]): Promise<void> {
  await client.workflow.execute('toolCalls', {
    taskQueue: BARE_TOOLS_TASK_QUEUE,
    workflowId: randomUUID(),
    args: [names],
  });
}

/** Starts a workflow that no worker takes. */
export async function startEmptyWorkflow(client: Client): Promise<void> {
  await client.workflow.start('empty', {
    taskQueue: UNSERVED_TASK_QUEUE,
    workflowId: randomUUID(),
    args: [],
  });
}
