import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';

/** Opens a Temporal client as the SDK's documentation shows. Baselines start their workflows with this client. */
export async function bareClient(address: string): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address }) });
}

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

/** Starts a workflow with a model call, a call of each tool and a second model call, and waits for its result. */
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
