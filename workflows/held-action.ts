import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ActionActivities } from '#activities/actions.ts';
import { webhookTaskQueue } from '#lib/task-queues.ts';
import { heldActionPolicy } from './policies.ts';

export interface HeldActionInput {
  readonly actionId: string;
  /** Number of this workflow of the action. */
  readonly attempt: number;
}

/**
 * Sends an approved action. What the server of the tool does is an outcome on record; where nothing could be sent, a
 * tick starts another workflow.
 */
export async function heldAction(input: HeldActionInput): Promise<string> {
  // Beside webhooks, whose receivers may hang too: the slots of model steps stay free.
  const taskQueue = webhookTaskQueue(workflowInfo().taskQueue);
  const { sendAction } = proxyActivities<ActionActivities>({ ...heldActionPolicy, taskQueue, summary: input.actionId });
  return sendAction(input);
}
