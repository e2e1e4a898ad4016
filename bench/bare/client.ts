import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';

/** The SDK's client, opened as its documentation shows. Baselines start their workflows with it. */
export async function bareClient(address: string): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address }) });
}

/** The task queue of the bare worker; a workflow on a queue without a worker stays as it is. */
export const BARE_TASK_QUEUE = 'bare';
export const BARE_TOOLS_TASK_QUEUE = 'bare-tools';
export const UNSERVED_TASK_QUEUE = 'unserved';

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
